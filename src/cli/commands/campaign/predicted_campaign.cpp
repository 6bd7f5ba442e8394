/// @file auspex campaign on top of a prediction: step, failures and checkpoints of a machine.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "campaign/machine_rates.hpp"
#include "campaign/start/startup.hpp"
#include "campaign/start/startup_notes.hpp"
#include "cli/commands/campaign/campaign_case.hpp"
#include "cli/commands/campaign/start_case.hpp"
#include "cli/flags/flag_values.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/prediction_output.hpp"
#include "schedule/bindings/bindings.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::cli {
namespace {

/// One of so many checkpoints is kept for ever as the model alone, until anybody says otherwise.
constexpr int kPersistentEvery = 10;
/// A 90 % interval is so many standard deviations wide.
constexpr double kWidth90 = 2 * 1.645;

predict::Prediction predict_step(const Options& options, const models::Inputs& inputs) {
    predict::PredictOptions wanted;
    wanted.tiles = options.tiles.empty() ? 0 : options.tiles.front();
    wanted.run_tokens = options.tokens;
    wanted.executor_runs = schedule::executor_runs;
    wanted.sensitivity = !options.no_sensitivity;
    return predict::predict(inputs, wanted).prediction;
}

PredictedRun run_of(const Options& options, const models::Inputs& inputs, const predict::Prediction& p) {
    PredictedRun run;
    run.machine = inputs.machine.name;
    run.stack = inputs.stack.name;
    run.workload = inputs.workload.name;
    run.plan = inputs.plan.name;
    run.overrides = options.overrides;
    run.tiles = p.tiles;
    run.tokens_per_step = p.tokens_per_step;
    run.interval_s = p.published_spread ? p.step_time_interval_with_spread_s : p.step_time_interval_s;
    const CheckpointBytes bytes = checkpoint_bytes(inputs);
    run.model_bytes = bytes.model;
    run.checkpoint_bytes = bytes.all;
    run.fits = p.memory.fits;
    return run;
}

/// The start after an interruption; of a first one the index of data, too.
campaign::StartJob start_job(const CampaignFlags& flags, const models::Inputs& inputs, const predict::Prediction& p,
                             double tokens) {
    campaign::StartJob job;
    job.nodes = p.nodes;
    job.ranks = p.tiles;
    job.load = load_of(inputs, p, !is_without(flags, "scattered"));
    job.index_sequences = flags.builds_index ? index_sequences(inputs.workload, tokens) : 0;
    return job;
}

/// What the restart is made of, as far as the machine's file and flags say.
void set_recovery(const CampaignFlags& flags, const models::Reliability& of, const campaign::Start& start,
                  campaign::Setting& setting) {
    campaign::Recovery& to = setting.recovery;
    const campaign::StartParts parts = parts_of(start);
    to.restart_s = flags.restart_s.value_or(parts.restart_s);
    to.initialise_s = flags.restart_s ? 0 : parts.initialise_s;
    to.load_s = flags.restart_s ? 0 : parts.load_s;
    setting.prepare_s = start.seconds_of(campaign::StartPhase::kIndex);
    to.swap_s = flags.swap_s.value_or(of.swap_s);
    to.watchdog_s = of.watchdog_s > 0 ? of.watchdog_s : to.watchdog_s;
    to.software_requeues = is_without(flags, "buffer");
}

void set_failures(const CampaignFlags& flags, const models::Machine& machine, campaign::Setting& to) {
    if (flags.mtbf_s > 0 || !flags.trace.empty()) {
        to.failures = {source_of(flags, "job", flags.mtbf_s)};
        return;
    }
    to.failures = campaign::failures_of(machine, to.nodes.count);
    for (campaign::FailureSource& source : to.failures) {
        source.detection_s = flags.detection_s.value_or(source.detection_s);
        if (flags.weibull_shape > 0) {
            source.spacing = campaign::Spacing::kWeibull;
            source.shape = flags.weibull_shape;
        }
    }
}

campaign::Setting setting_of(const CampaignFlags& flags, const models::Inputs& inputs, const predict::Prediction& p,
                             PredictedRun& run) {
    campaign::Setting s;
    s.steps = run.steps;
    s.step_s = p.step_time_s;
    s.step_sigma = p.has_interval ? std::log(run.interval_s.high / run.interval_s.low) / kWidth90 : 0;
    s.starts_cold = true;
    s.nodes.count = p.nodes;
    const int replica_tiles = p.tiles / std::max(p.dp, 1);
    const int replica_nodes = (replica_tiles + inputs.machine.node.tiles - 1) / inputs.machine.node.tiles;
    const campaign::CheckpointTimes times =
        campaign::checkpoint_times(inputs.machine, {run.checkpoint_bytes, run.model_bytes, p.nodes, replica_nodes,
                                                    !is_without(flags, "scattered"), !is_without(flags, "async")});
    campaign::Checkpoints& c = s.checkpoints;
    c.stall_s = flags.stall_s.value_or(times.stall_s);
    c.write_s = flags.write_s.value_or(flags.stall_s ? 0 : times.write_s);
    c.copies = is_without(flags, "dual") ? 1 : 2;
    c.at_block_end = !is_without(flags, "final-save");
    c.persistent_every = is_without(flags, "persistent") ? 0 : kPersistentEvery;
    c.persistent_stall_s = times.model_s;
    const double tokens = static_cast<double>(run.steps) * run.tokens_per_step;
    const campaign::Start start = start_of(inputs.machine, inputs.stack, start_job(flags, inputs, p, tokens));
    set_recovery(flags, inputs.machine.reliability, start, s);
    set_failures(flags, inputs.machine, s);
    if (is_without(flags, "buffer") || (!flags.spares && (flags.walltime_s > 0 || flags.queue_wait_s))) {
        s.nodes.spares = 0;
    }
    return s;
}

std::int64_t steps_of(const Options& options, const predict::Prediction& p) {
    const bool has_steps = options.campaign.steps > 0;
    if (has_steps == (options.tokens > 0)) {
        throw InputError("auspex campaign", std::string("found ") + (has_steps ? "both" : "neither") +
                                                " of --tokens and --steps; expected one of them: how long the run is");
    }
    if (has_steps) {
        return options.campaign.steps;
    }
    constexpr double kMostSteps = 1e9;
    const double steps = std::ceil(options.tokens / p.tokens_per_step);
    if (steps > kMostSteps) {
        throw InputError("--tokens", "found " + short_count(options.tokens) + ", " + short_count(steps) +
                                         " steps; expected at most 1e9 of them");
    }
    return static_cast<std::int64_t>(steps);
}

/// The features that this campaign has, so that each can be left out.
std::vector<std::string> features_of(const campaign::Setting& s) {
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
    add(s.nodes.spares.value_or(0) > 0 && has_blocks, "buffer");
    add(s.checkpoints.at_block_end && (s.blocks.walltime_s > 0 || s.blocks.maintenance_s > 0), "final-save");
    return features;
}

/// Of starts, and of those that "scattered" is compared with.
void add_start_notes(const CampaignFlags& flags, const models::Inputs& inputs, const predict::Prediction& prediction,
                     CampaignCase& to) {
    const double tokens = static_cast<double>(to.run->steps) * to.run->tokens_per_step;
    CampaignFlags fewer = flags;
    fewer.without.emplace_back("scattered");
    const auto notes_of = [&](const CampaignFlags& of) {
        return start_notes(inputs.machine, inputs.stack, start_job(of, inputs, prediction, tokens));
    };
    const std::vector<std::string> notes = notes_of(flags);
    to.notes.insert(to.notes.end(), notes.begin(), notes.end());
    for (const std::string& text : notes_of(fewer)) {
        if (std::ranges::find(notes, text) == notes.end()) {
            to.notes.push_back("without scattered: " + text);
        }
    }
}

void add_notes(const CampaignFlags& flags, const models::Inputs& inputs, const predict::Prediction& prediction,
               CampaignCase& to) {
    const auto note = [&](bool holds, const std::string& text) {
        if (holds) {
            to.notes.push_back(text);
        }
    };
    note(!to.run->fits, "the plan does not fit in memory: this run cannot be as it stands");
    note(to.setting.step_sigma > 0,
         "a sample's steps are all as slow as its draw from the prediction's 90 % interval says");
    note(inputs.machine.reliability.parts.empty() && flags.mtbf_s == 0 && flags.trace.empty(),
         "the machine's file knows no parts that fail: its node_mtbf is taken");
    note(to.setting.checkpoints.persistent_every > 0, "one of ten checkpoints is kept as the model alone (assumed)");
    note(inputs.machine.storage.checkpoint_write_bytes_per_s <= 0 && !flags.stall_s,
         "checkpoints are written as fast as the machine's whole storage goes: no job's was measured");
    note(to.setting.nodes.spares == 0 && !flags.spares,
         "no spare nodes: each node that fails sends the job to the queue (--spares N)");
    if (!flags.restart_s || flags.builds_index) {
        add_start_notes(flags, inputs, prediction, to);
    }
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
    CampaignCase to;
    to.run = run_of(options, inputs, prediction);
    to.inputs = files_of(inputs);
    to.run->tokens = options.tokens;
    to.run->steps = steps_of(options, prediction);
    to.setting = setting_of(flags, inputs, prediction, *to.run);
    apply_campaign_flags(flags, to);
    std::vector<std::string> features = features_of(to.setting);
    if (!is_without(flags, "scattered")) {
        features.emplace_back("scattered");
    }
    for (const std::string& feature : features) {
        CampaignFlags fewer = flags;
        fewer.without.push_back(feature);
        fewer.spares = feature == "buffer" ? std::nullopt : fewer.spares;
        CampaignCase other;
        PredictedRun run = *to.run;
        other.setting = setting_of(fewer, inputs, prediction, run);
        apply_campaign_flags(fewer, other);
        to.without.push_back({feature, other.setting});
    }
    add_notes(flags, inputs, prediction, to);
    to.title = inputs.workload.name + " on " + counted(prediction.nodes, "node") + " of " + inputs.machine.name +
               " with " + inputs.stack.name + overrides_line(options) + "\n" +
               thousands(static_cast<double>(to.setting.steps)) + " steps of " +
               format_quantity(to.setting.step_s, Dimension::kSeconds);
    return to;
}

}  // namespace auspex::cli
