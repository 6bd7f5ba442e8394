#pragma once
/// @file Measurements that several ranks take together: how often, in what order, and what is made of their times.
#include <functional>
#include <vector>

#include "microbench/bench_setup.hpp"

namespace auspex::microbench {

/// One rank's part of a measurement.
struct TimedPart {
    bool takes_part = false;            ///< false: this rank sleeps meanwhile, and has no functions
    std::function<void()> synchronize;  ///< before each batch of calls, with the others who take part
    /// That many calls in succession, as many on every rank. Returns seconds of one of them; negative: this rank's time
    /// does not count.
    std::function<double(int calls)> run;
};

enum class AcrossRanks { kSlowest, kMedian };

/// What to measure, and how each rank gets ready for it. `prepare` is called right before, and what it made is let go
/// after.
struct TimedTask {
    models::Measurement measurement;  ///< without seconds, spread, count
    AcrossRanks across = AcrossRanks::kSlowest;
    bool has_fixed_length = false;  ///< a call takes as long whatever the size: none is left out after a long one
    std::function<TimedPart()> prepare;
};

/// Runs on every rank, with tasks that differ in `prepare` only: asks bench.skip, shares bench.budget_s out among
/// those that are left, and reports. Each has three trials, seconds apart (one if it takes long), for another process,
/// or another virtual machine, disturbs some of them; `combined` (trials.hpp) makes one result of them. Requires tasks
/// in the same order on every rank.
void run_timed_tasks(const BenchSetup& bench, std::vector<TimedTask> tasks);

/// Seconds of steady time since some moment, the same for all processes of a computer.
[[nodiscard]] double steady_seconds();

/// The core of every rank, -1 where it is not bound to one. Collective.
[[nodiscard]] std::vector<int> cores_of_ranks(exec::Communicator& world);

/// A grid whose stages are `distance` ranks apart, the number of stages as large as that allows: each rank's next and
/// previous stage are those ranks.
[[nodiscard]] models::Layout stages_apart(int ranks, int distance);

/// The number of nodes that ranks [0, ranks) lie on.
[[nodiscard]] int nodes_of(const BenchSetup& bench, int ranks);

}  // namespace auspex::microbench
