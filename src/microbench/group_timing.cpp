/// @file Batches of calls that begin together, their number agreed on, their times gathered.
#include "microbench/group_timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/statistics/quantiles.hpp"
#include "exec/run/core_probe.hpp"
#include "exec/system/cores.hpp"
#include "microbench/trials.hpp"
#include "models/core_speed.hpp"
#include "models/plan.hpp"

namespace auspex::microbench {
namespace {

constexpr double kRow_s = 2e-3;       ///< long enough for the clock and for the skew of a barrier not to matter
constexpr double kLongBatch_s = 0.1;  ///< batches as long as this are repeated less
constexpr int kMaxCalls = 4000, kMaxRows = 100, kMinRows = 5, kMinLongBatches = 3;

double longest(exec::Communicator& world, double seconds) {
    world.all_reduce(models::GroupKind::kWorld, &seconds, 1, exec::ElementType::kDouble, exec::ReduceOp::kMax);
    return seconds;
}

void sleep_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Seconds of one call, and wall time of all of this rank's part.
struct BatchTime {
    double call_s = -1, wall_s = 0;
};

BatchTime run_batch(const TimedPart& part, int calls) {
    part.synchronize();
    const double begin = steady_seconds();
    const double call_s = part.run(calls);
    return {call_s, steady_seconds() - begin};
}

/// Wall time of one call, by a batch of one, which also warms up, and where that is short by one of several, in which
/// the skew of a barrier counts for less.
double call_estimate(exec::Communicator& world, const TimedPart& part) {
    constexpr double kNap_s = 2e-3;  ///< those who take no part come late rather than wait in the others' way
    constexpr int kSeveral = 10;
    double call_s = 0;
    for (const bool is_first : {true, false}) {
        const int calls = is_first || call_s > 5 * kRow_s ? 1 : kSeveral;
        BatchTime batch;
        if (part.takes_part) {
            batch = run_batch(part, calls);
        } else {
            sleep_s(kNap_s);
        }
        call_s = longest(world, batch.wall_s) / calls;
    }
    return std::max(call_s, 1e-7);
}

/// Times [rank][batch] to one time for each batch that counts.
std::vector<double> across_ranks(const std::vector<double>& times, std::size_t batches, AcrossRanks across) {
    std::vector<double> joined;
    for (std::size_t batch = 0; batch < batches; ++batch) {
        std::vector<double> counted;
        for (std::size_t at = batch; at < times.size(); at += batches) {
            if (times[at] >= 0) {
                counted.push_back(times[at]);
            }
        }
        if (!counted.empty()) {
            joined.push_back(across == AcrossRanks::kMedian ? median(counted)
                                                            : *std::max_element(counted.begin(), counted.end()));
        }
    }
    return joined;
}

/// Every rank's values, rank by rank; as many on each.
std::vector<double> gathered(exec::Communicator& world, const std::vector<double>& own) {
    const auto ranks = static_cast<std::size_t>(world.world_size());
    std::vector<double> all(ranks * own.size());
    std::vector<std::size_t> offsets;
    for (std::size_t rank = 0; rank <= ranks; ++rank) {
        offsets.push_back(rank * own.size());
    }
    std::copy(own.begin(), own.end(),
              all.begin() + static_cast<std::ptrdiff_t>(offsets[static_cast<std::size_t>(world.world_rank())]));
    world.all_gather(models::GroupKind::kWorld, all.data(), offsets, exec::ElementType::kDouble);
    return all;
}

/// Batches that ran on cores of some speed.
struct TimedBatches {
    std::vector<double> times_s, probes_s;  ///< the probe of the slowest core beside each
};
struct Batches {
    TimedBatches undisturbed, disturbed;  ///< by whether all cores had their full speed
};

/// `count` batches of `calls` calls, with probes of every rank's core between them.
Batches run_rows(const BenchSetup& bench, const TimedPart& part, AcrossRanks across, int calls, std::size_t count,
                 double nap_s) {
    exec::CoreProbe probe;
    std::vector<double> times(count, -1), probes(count);
    double before_s = probe.seconds();
    for (std::size_t batch = 0; batch < count; ++batch) {
        if (part.takes_part) {
            times[batch] = run_batch(part, calls).call_s;
            part.synchronize();  // others may still need this rank's core for their batch
        }
        const double after_s = part.takes_part ? probe.seconds() : 0;
        probes[batch] = std::max(before_s, after_s);
        before_s = after_s;
    }
    if (!part.takes_part) {
        sleep_s(nap_s);
        probes.assign(count, 0);
    }
    const std::vector<double> joined = across_ranks(gathered(bench.communicator, times), count, across);
    const std::vector<double> slowest =
        across_ranks(gathered(bench.communicator, probes), count, AcrossRanks::kSlowest);
    Batches batches;
    if (joined.size() < count) {  // some batches have no time on any rank: whose probes are whose is not known
        const double slowest_s = *std::max_element(slowest.begin(), slowest.end());
        batches.disturbed = {joined, std::vector<double>(joined.size(), slowest_s)};
        return batches;
    }
    for (std::size_t batch = 0; batch < count; ++batch) {
        const bool is_undisturbed = bench.undisturbed_probe_s == 0 || slowest[batch] <= bench.undisturbed_probe_s;
        TimedBatches& same = is_undisturbed ? batches.undisturbed : batches.disturbed;
        same.times_s.push_back(joined[batch]);
        same.probes_s.push_back(slowest[batch]);
    }
    return batches;
}

/// The batches of one task; every rank returns the same.
Batches timed_batches(const BenchSetup& bench, const TimedTask& task, double budget_s) {
    const TimedPart part = task.prepare();
    const double call_s = call_estimate(bench.communicator, part);
    const int calls = static_cast<int>(std::clamp(std::ceil(kRow_s / call_s), 1.0, double{kMaxCalls}));
    const double row_s = call_s * calls;
    const int least = row_s < kLongBatch_s ? kMinRows : kMinLongBatches;
    const auto count = static_cast<std::size_t>(std::clamp(budget_s / row_s, double(least), double{kMaxRows}));
    return run_rows(bench, part, task.across, calls, count, row_s * static_cast<double>(count));
}

/// What rank 0 wants, on every rank.
std::vector<char> wanted_tasks(const BenchSetup& bench, const std::vector<TimedTask>& tasks) {
    std::vector<char> wanted(tasks.size(), 1);
    if (bench.communicator.world_rank() == 0 && bench.skip) {
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            wanted[i] = bench.skip(tasks[i].measurement) ? 0 : 1;
        }
    }
    bench.communicator.broadcast(models::GroupKind::kWorld, 0, wanted.data(), wanted.size());
    return wanted;
}

/// The trials of a task so far.
struct Trials {
    std::vector<Trial> found;
    double took_s = 0;  ///< of all of them
};

/// Nothing where no batch had a time.
std::optional<Trial> trial_of(Batches batches) {
    auto& [times_s, probes_s] = batches.undisturbed;
    const bool is_undisturbed = times_s.size() >= kMinLongBatches;
    if (!is_undisturbed) {
        std::ranges::copy(batches.disturbed.times_s, std::back_inserter(times_s));
        std::ranges::copy(batches.disturbed.probes_s, std::back_inserter(probes_s));
    }
    if (times_s.empty()) {
        return std::nullopt;
    }
    return Trial{timing_of(times_s), median(probes_s), is_undisturbed};
}

void report_trials(const BenchSetup& bench, models::Measurement measurement, const Trials& trials) {
    if (bench.communicator.world_rank() != 0 || !bench.report || trials.found.empty()) {
        return;
    }
    const Trial trial = combined(trials.found);
    measurement.seconds = trial.seconds;
    measurement.spread = trial.spread;
    measurement.count = trial.count;
    measurement.source = models::own_source(trial.probe_s);
    bench.report(measurement);
}

/// Sizes of the same thing.
std::string series_of(const models::Measurement& measurement) {
    return measurement.kind + " " + measurement.name + " " + measurement.where + " " +
           std::to_string(measurement.active) + " " + std::to_string(measurement.ranks);
}

}  // namespace

void run_timed_tasks(const BenchSetup& bench, std::vector<TimedTask> tasks) {
    constexpr int kTrials = 3;
    constexpr double kLongTrial_s = 0.15;       ///< one trial only of what takes so long
    constexpr double kTooLong_s = 1;            ///< larger sizes than one that took so long are left out
    std::map<std::string, double> duration_of;  ///< of the last trial of a series
    const std::vector<char> wanted = wanted_tasks(bench, tasks);
    auto left = static_cast<double>(kTrials * std::count(wanted.begin(), wanted.end(), 1));
    const double end = steady_seconds() + bench.budget_s;
    std::vector<Trials> trials(tasks.size());
    for (int i = 0; i < kTrials; ++i) {
        for (std::size_t task = 0; task < tasks.size(); ++task) {
            left -= wanted[task];
            double& series_s = duration_of[series_of(tasks[task].measurement)];
            const bool is_too_long = series_s > kTooLong_s && !tasks[task].has_fixed_length;
            if (wanted[task] == 0 || trials[task].took_s > kLongTrial_s || is_too_long) {
                continue;
            }
            const double begin = steady_seconds();
            const double left_s = longest(bench.communicator, end - begin);
            const auto trial = trial_of(timed_batches(bench, tasks[task], std::max(left_s, 0.0) / (left + 1)));
            series_s = longest(bench.communicator, steady_seconds() - begin);
            trials[task].took_s += series_s;
            if (trial) {
                trials[task].found.push_back(*trial);
            }
        }
    }
    for (std::size_t task = 0; task < tasks.size(); ++task) {
        if (wanted[task] != 0) {
            report_trials(bench, tasks[task].measurement, trials[task]);
        }
    }
}

double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<int> cores_of_ranks(exec::Communicator& world) {
    const std::vector<int> cores = exec::affinity_cores();
    std::vector<std::int64_t> core_of(static_cast<std::size_t>(world.world_size()));
    std::vector<std::size_t> offsets(core_of.size() + 1);
    for (std::size_t rank = 0; rank < offsets.size(); ++rank) {
        offsets[rank] = rank;
    }
    core_of[static_cast<std::size_t>(world.world_rank())] = cores.size() == 1 ? cores.front() : -1;
    world.all_gather(models::GroupKind::kWorld, core_of.data(), offsets, exec::ElementType::kInt64);
    return {core_of.begin(), core_of.end()};
}

models::Layout stages_apart(int ranks, int distance) {
    models::Plan plan;
    plan.name = plan.file = "ranks that exchange messages";
    plan.pp = ranks / distance, plan.dp = distance;
    plan.rank_order = {models::Axis::kPp, models::Axis::kDp, models::Axis::kEp, models::Axis::kTp};
    return rank_grid(plan, ranks);
}

int nodes_of(const BenchSetup& bench, int ranks) {
    const auto begin = bench.node_of_rank.begin();
    return bench.node_of_rank.empty() ? 1 : static_cast<int>(std::set<int>(begin, begin + ranks).size());
}

}  // namespace auspex::microbench
