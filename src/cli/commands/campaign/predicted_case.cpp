/// @file auspex campaign on top of a prediction: its features, and what to know of it.
#include <algorithm>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "campaign/start/load_time.hpp"
#include "cli/campaigns/predicted_setting.hpp"
#include "cli/commands/campaign/campaign_kinds.hpp"
#include "cli/flags/flag_values.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/input_names.hpp"
#include "models/jobs/launch_settings.hpp"
#include "schedule/bindings/bindings.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::cli {
namespace {

predict::Prediction predict_step(const Options& options, const models::Inputs& inputs) {
    predict::PredictOptions wanted;
    wanted.tiles = options.tiles.empty() ? 0 : options.tiles.front();
    wanted.run_tokens = options.tokens;
    wanted.executor_runs = schedule::executor_runs;
    wanted.sensitivity = !options.no_sensitivity;
    return predict::predict(inputs, wanted).prediction;
}

/// The features that this campaign has, so that each can be left out.
std::vector<std::string> features_of(const CampaignCase& of) {
    const campaign::Setting& s = of.setting;
    std::vector<std::string> features;
    const auto add = [&](bool is_there, const char* feature) {
        if (is_there) {
            features.emplace_back(feature);
        }
    };
    const bool has_blocks = s.blocks.walltime_s > 0 || s.blocks.queue_wait_s > 0;
    add(s.checkpoints.copies > 1, "dual");
    add(s.checkpoints.write_s > 0, "async");
    add(s.checkpoints.persistent_every > 0, "persistent");
    add((s.nodes.spares.value_or(0) > 0 || of.is_auto_spares) && has_blocks, "buffer");
    add(s.checkpoints.at_block_end && (s.blocks.walltime_s > 0 || s.blocks.maintenance_s > 0), "final-save");
    return features;
}

/// Of blocks that the machine's batch system does not give to so many nodes.
void add_walltime_note(const CampaignFlags& flags, const models::Inputs& inputs, int nodes, CampaignCase& to) {
    const models::LaunchSettings launch = models::launch_settings_of(inputs.machine_document);
    const std::optional<models::WalltimeLimit> limit = models::walltime_limit(launch, nodes);
    if (limit && flags.walltime_s > limit->walltime_s) {
        to.notes.push_back("blocks of " + format_quantity(flags.walltime_s, Dimension::kSeconds) +
                           " are longer than a job of " + counted(nodes, "node") + " may be here, " +
                           format_quantity(limit->walltime_s, Dimension::kSeconds) + " (launch.walltime_limits)");
    }
}

void add_notes(const CampaignFlags& flags, const models::Inputs& inputs, CampaignCase& to) {
    const auto note = [&](bool holds, const std::string& text) {
        if (holds) {
            to.notes.push_back(text);
        }
    };
    note(!to.run->fits, "the plan does not fit in memory: this run cannot be as it stands");
    note(to.setting.step_sigma > 0,
         "a sample's steps are all as slow as its draw from the prediction's 90 % interval says: the soonest may be "
         "over before steps alone of the predicted length are");
    note(inputs.machine.reliability.parts.empty() && flags.mtbf_s == 0 && flags.trace.empty(),
         "the machine's file knows no parts that fail: its node_mtbf is taken");
    note(to.setting.checkpoints.persistent_every > 0, "one of ten checkpoints is kept as the model alone (assumed)");
    note(inputs.machine.storage.checkpoint_write_bytes_per_s <= 0 && !flags.stall_s,
         "checkpoints are written as fast as the machine's whole storage goes: no job's was measured");
    note(to.setting.nodes.spares == 0 && !flags.spares && !flags.auto_spares,
         "no spare nodes: each node that fails sends the job to the queue (--spares N)");
}

}  // namespace

CampaignCase predicted_campaign(const Options& options) {
    const CampaignFlags& flags = options.campaign;
    refuse_given({{"--step", flags.step_s > 0},
                  {"--machines", flags.machines > 0},
                  {"--daily-failure", flags.daily_failure.has_value()}},
                 "found without --bare; expected both, for else step, machines and failures follow from the inputs");
    check_without(flags, {"dual", "async", "scattered", "persistent", "buffer", "final-save"});
    const models::Inputs inputs = load_all(options);
    const predict::Prediction prediction = predict_step(options, inputs);
    CampaignCase to = predicted_setting(options, inputs, prediction);
    std::vector<std::string> features = features_of(to);
    if (!is_without(flags, "scattered")) {
        features.emplace_back("scattered");
    }
    models::Inputs striped = inputs;  // nobody has said what many replicas get of the same files
    striped.machine = campaign::with_parts_on_every_server(inputs.machine);
    for (const std::string& feature : features) {
        Options fewer = options;
        fewer.campaign.without.push_back(feature);
        if (feature == "buffer") {
            fewer.campaign.spares.reset();
            fewer.campaign.auto_spares = false;
        }
        const bool is_storm = feature == "scattered";
        to.without.push_back({feature, predicted_setting(fewer, is_storm ? striped : inputs, prediction).setting});
        if (is_storm && inputs.machine.startup.storage) {
            try {
                const CampaignCase shared = predicted_setting(fewer, inputs, prediction);
                to.without.push_back({"scattered_shared_read", shared.setting});
                for (const std::string& text : shared.notes) {
                    if (std::ranges::find(to.notes, text) == to.notes.end()) {
                        to.notes.push_back(
                            "what scattered is worth lies between scattered and scattered_shared_read: " + text);
                    }
                }
            } catch (const InputError& error) {
                to.notes.push_back(std::string("scattered_shared_read is not played: ") + error.what());
            }
        }
    }
    add_walltime_note(flags, inputs, prediction.nodes, to);
    add_notes(flags, inputs, to);
    to.title = inputs.workload.name + " on " + counted(prediction.nodes, "node") + " of " + inputs.machine.name +
               " with " + inputs.stack.name + overrides_line(options) + "\n" +
               thousands(static_cast<double>(to.setting.steps)) + " steps of " +
               format_quantity(to.setting.step_s, Dimension::kSeconds);
    return to;
}

}  // namespace auspex::cli
