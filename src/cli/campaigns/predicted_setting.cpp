/// @file Step, failures and checkpoints of a machine.
#include "cli/campaigns/predicted_setting.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "campaign/machine_rates.hpp"
#include "campaign/start/startup.hpp"
#include "cli/flags/input_flags.hpp"

namespace auspex::cli {
namespace {

/// One of so many checkpoints is kept for ever as the model alone, until anybody says otherwise.
constexpr int kPersistentEvery = 10;
/// A 90 % interval is so many standard deviations wide.
constexpr double kWidth90 = 2 * 1.645;

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
    const campaign::CheckpointBytes bytes = campaign::checkpoint_bytes(inputs);
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
    job.load = campaign::load_of(inputs, {p.nodes, p.tiles, p.dp}, !is_without(flags, "scattered"));
    job.index_sequences = flags.builds_index ? campaign::index_sequences(inputs.workload, tokens) : 0;
    return job;
}

/// What a spare node of a job is given.
double environment_of_node_s(const models::Inputs& inputs, campaign::StartJob job) {
    job.ranks = std::max(job.ranks / job.nodes, 1);
    job.nodes = 1;
    return parts_of(start_of(inputs.machine, inputs.stack, job)).environment_s;
}

/// What the restart is made of, as far as the machine's file and flags say.
void set_recovery(const CampaignFlags& flags, const models::Inputs& inputs, const campaign::StartJob& job,
                  const campaign::Start& start, campaign::Setting& setting) {
    campaign::Recovery& to = setting.recovery;
    const models::Reliability& of = inputs.machine.reliability;
    const campaign::StartParts parts = parts_of(start);
    to.environment_s = flags.restart_s ? 0 : parts.environment_s;
    to.restart_s = flags.restart_s.value_or(parts.restart_s);
    to.initialise_s = flags.restart_s ? 0 : parts.initialise_s;
    to.load_s = flags.restart_s ? 0 : parts.load_s;
    setting.prepare_s = start.seconds_of(campaign::StartPhase::kIndex);
    to.swap_s = flags.swap_s.value_or(of.swap_s + (flags.restart_s ? 0 : environment_of_node_s(inputs, job)));
    to.failed_start_share = campaign::failed_start_share(inputs.machine, job.nodes);
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

/// The start's notes join `notes` where it is played.
campaign::Setting setting_of(const CampaignFlags& flags, const models::Inputs& inputs, const predict::Prediction& p,
                             const PredictedRun& run, std::vector<std::string>& notes) {
    campaign::Setting s;
    s.steps = run.steps;
    s.step_s = p.step_time_s;
    s.step_sigma = p.has_interval ? std::log(run.interval_s.high / run.interval_s.low) / kWidth90 : 0;
    s.starts_cold = true;
    s.nodes.count = p.nodes;
    const double tokens = static_cast<double>(run.steps) * run.tokens_per_step;
    const campaign::StartJob job = start_job(flags, inputs, p, tokens);
    const campaign::CheckpointTimes times = campaign::checkpoint_times(
        inputs.machine, {run.checkpoint_bytes, run.model_bytes, p.nodes, job.load->replica_nodes,
                         !is_without(flags, "scattered"), !is_without(flags, "async")});
    campaign::Checkpoints& c = s.checkpoints;
    c.stall_s = flags.stall_s.value_or(times.stall_s);
    c.write_s = flags.write_s.value_or(flags.stall_s ? 0 : times.write_s);
    c.copies = is_without(flags, "dual") ? 1 : 2;
    c.at_block_end = !is_without(flags, "final-save");
    c.persistent_every = is_without(flags, "persistent") ? 0 : kPersistentEvery;
    c.persistent_stall_s = times.model_s;
    const campaign::Start start = start_of(inputs.machine, inputs.stack, job);
    if (!flags.restart_s || flags.builds_index) {
        notes.insert(notes.end(), start.notes.begin(), start.notes.end());
    }
    set_recovery(flags, inputs, job, start, s);
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

}  // namespace

CampaignCase predicted_setting(const Options& options, const models::Inputs& inputs,
                               const predict::Prediction& prediction) {
    CampaignCase to;
    to.run = run_of(options, inputs, prediction);
    to.inputs = files_of(inputs);
    to.run->tokens = options.tokens;
    to.run->steps = steps_of(options, prediction);
    to.most_nodes = inputs.machine.fabric.max_nodes;
    to.setting = setting_of(options.campaign, inputs, prediction, *to.run, to.notes);
    apply_campaign_flags(options.campaign, to);
    return to;
}

}  // namespace auspex::cli
