/// @file Flags over what a machine's files make of a predicted step.
#include "cli/campaigns/predicted_setting.hpp"

#include "base/error.hpp"
#include "campaign/finish/machine_setting.hpp"
#include "cli/flags/input_flags.hpp"

namespace auspex::cli {
namespace {

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
    run.fits = p.memory.fits;
    return run;
}

campaign::Features features_of(const CampaignFlags& flags) {
    return {.dual = !is_without(flags, "dual"),
            .async = !is_without(flags, "async"),
            .scattered = !is_without(flags, "scattered"),
            .persistent = !is_without(flags, "persistent"),
            .final_save = !is_without(flags, "final-save")};
}

/// What flags say of checkpoints and starts, over what the files do.
void lay_over(const CampaignFlags& flags, const campaign::MachineSetting& of_files, campaign::Setting& to) {
    campaign::Checkpoints& c = to.checkpoints;
    c.write_s = flags.write_s.value_or(flags.stall_s ? 0 : c.write_s);
    c.stall_s = flags.stall_s.value_or(c.stall_s);
    campaign::Recovery& r = to.recovery;
    if (flags.restart_s) {
        r.environment_s = r.initialise_s = r.load_s = 0;
        r.restart_s = *flags.restart_s;
        r.swap_s = of_files.swap_s;
    }
    r.swap_s = flags.swap_s.value_or(r.swap_s);
    r.software_requeues = is_without(flags, "buffer");
    if (r.software_requeues || (!flags.spares && (flags.walltime_s > 0 || flags.queue_wait_s))) {
        to.nodes.spares = 0;
    }
}

void set_failures(const CampaignFlags& flags, campaign::Setting& to) {
    if (flags.mtbf_s > 0 || !flags.trace.empty()) {
        to.failures = {source_of(flags, "job", flags.mtbf_s)};
        return;
    }
    for (campaign::FailureSource& source : to.failures) {
        source.detection_s = flags.detection_s.value_or(source.detection_s);
        if (flags.weibull_shape > 0) {
            source.spacing = campaign::Spacing::kWeibull;
            source.shape = flags.weibull_shape;
        }
    }
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
    return campaign::steps_of_tokens(options.tokens, p.tokens_per_step, "--tokens");
}

}  // namespace

CampaignCase predicted_setting(const Options& options, const models::Inputs& inputs,
                               const predict::Prediction& prediction) {
    CampaignCase to;
    to.run = run_of(options, inputs, prediction);
    to.inputs = files_of(inputs);
    to.run->tokens = options.tokens;
    to.run->steps = steps_of(options, prediction);
    to.most_nodes = inputs.machine.fabric.max_nodes;
    const CampaignFlags& flags = options.campaign;
    const double tokens = static_cast<double>(to.run->steps) * to.run->tokens_per_step;
    const campaign::MachineSetting of_files = machine_setting(
        inputs,
        {prediction.nodes, prediction.tiles, prediction.dp, prediction.step_time_s,
         prediction.has_interval ? to.run->interval_s : Interval{prediction.step_time_s, prediction.step_time_s},
         to.run->steps, flags.builds_index ? tokens : 0},
        features_of(flags));
    to.setting = of_files.setting;
    to.run->model_bytes = of_files.bytes.model;
    to.run->checkpoint_bytes = of_files.bytes.all;
    if (!flags.restart_s || flags.builds_index) {
        to.notes = of_files.notes;
    }
    lay_over(flags, of_files, to.setting);
    set_failures(flags, to.setting);
    apply_campaign_flags(flags, to);
    return to;
}

}  // namespace auspex::cli
