/// @file Step, failures, checkpoints and start of a machine.
#include "campaign/finish/machine_setting.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/number_text.hpp"
#include "campaign/machine_rates.hpp"
#include "campaign/start/startup.hpp"

namespace auspex::campaign {
namespace {

/// A 90 % interval is so many standard deviations wide.
constexpr double kWidth90 = 2 * 1.645;

/// The start after an interruption; of a first one the index of data, too.
StartJob start_job(const models::Inputs& inputs, const PredictedRunSize& run, const Features& features) {
    StartJob job;
    job.nodes = run.nodes;
    job.ranks = run.tiles;
    job.load = load_of(inputs, {run.nodes, run.tiles, run.dp}, features.scattered);
    job.index_sequences = run.tokens_of_new_index > 0 ? index_sequences(inputs.workload, run.tokens_of_new_index) : 0;
    return job;
}

/// What a spare node of a job is given.
double environment_of_node_s(const models::Inputs& inputs, StartJob job) {
    job.ranks = std::max(job.ranks / job.nodes, 1);
    job.nodes = 1;
    return parts_of(start_of(inputs.machine, inputs.stack, job)).environment_s;
}

void set_recovery(const models::Inputs& inputs, const StartJob& job, const Start& start, Setting& setting) {
    Recovery& to = setting.recovery;
    const models::Reliability& of = inputs.machine.reliability;
    const StartParts parts = parts_of(start);
    to.environment_s = parts.environment_s;
    to.restart_s = parts.restart_s;
    to.initialise_s = parts.initialise_s;
    to.load_s = parts.load_s;
    setting.prepare_s = start.seconds_of(StartPhase::kIndex);
    to.swap_s = of.swap_s + environment_of_node_s(inputs, job);
    to.failed_start_share = failed_start_share(inputs.machine, job.nodes);
    to.watchdog_s = of.watchdog_s > 0 ? of.watchdog_s : to.watchdog_s;
}

void set_checkpoints(const models::Inputs& inputs, const CheckpointBytes& bytes, const StartJob& job,
                     const Features& features, Checkpoints& to) {
    const CheckpointTimes times = checkpoint_times(
        inputs.machine,
        {bytes.all, bytes.model, job.nodes, job.load->replica_nodes, features.scattered, features.async});
    to.stall_s = times.stall_s;
    to.write_s = times.write_s;
    to.copies = features.dual ? 2 : 1;
    to.at_block_end = features.final_save;
    to.persistent_every = features.persistent ? kPersistentEvery : 0;
    to.persistent_stall_s = times.model_s;
}

}  // namespace

MachineSetting machine_setting(const models::Inputs& inputs, const PredictedRunSize& run, const Features& features) {
    MachineSetting made;
    Setting& s = made.setting;
    s.steps = run.steps;
    s.step_s = run.step_s;
    s.step_sigma = std::log(run.step_interval_s.high / run.step_interval_s.low) / kWidth90;
    s.starts_cold = true;
    s.nodes.count = run.nodes;
    s.failures = failures_of(inputs.machine, run.nodes);
    const StartJob job = start_job(inputs, run, features);
    const Start start = start_of(inputs.machine, inputs.stack, job);
    made.bytes = checkpoint_bytes(inputs);
    made.swap_s = inputs.machine.reliability.swap_s;
    made.notes = start.notes;
    set_checkpoints(inputs, made.bytes, job, features, s.checkpoints);
    set_recovery(inputs, job, start, s);
    return made;
}

std::int64_t steps_of_tokens(double tokens, double tokens_per_step, const char* where) {
    const double steps = std::ceil(tokens / tokens_per_step);
    if (steps > kMostSteps) {
        throw InputError(
            where, "found " + short_count(tokens) + ", " + short_count(steps) + " steps; expected at most 1e9 of them");
    }
    return static_cast<std::int64_t>(steps);
}

std::string tokens_text(double tokens) {
    constexpr std::size_t kShort = 6;
    for (const auto& [suffix, scale] : {std::pair("T", 1e12), {"B", 1e9}, {"M", 1e6}, {"k", 1e3}}) {
        const std::string number = json_number(tokens / scale);
        if (tokens >= scale && number.size() <= kShort && std::stod(number) * scale == tokens) {
            return number + suffix;
        }
    }
    return json_number(tokens);
}

}  // namespace auspex::campaign
