#pragma once
/// @file What the ranks of a communicator measure together, and for how long.
#include <functional>
#include <memory>
#include <vector>

#include "exec/transport/communicator.hpp"
#include "microbench/kernel_bench.hpp"
#include "models/measurement.hpp"

namespace auspex::microbench {

/// What every rank runs together. Rank 0 calls `report` with each measurement as it is made, and `skip` is asked, on
/// rank 0, before any is made, whether it exists already (sizes and names are set, seconds are not). Ranks that take no
/// part in a measurement sleep.
struct BenchSetup {
    exec::Communicator& communicator;  ///< whatever its layout: calls go over its world
    /// Another communicator of the same ranks; all ranks call it with the same layouts in the same order.
    std::function<std::unique_ptr<exec::Communicator>(const models::Layout&)> make_communicator;
    std::vector<int> node_of_rank;  ///< index of each rank's node; empty: all on one
    double budget_s = 10;           ///< of all measurements together, about: each is repeated at least 3 times
    MemorySizes sizes;              ///< for run_sharing_bench
    double undisturbed_probe_s =
        0;  ///< batches count while probes of all cores take up to this (CoreProbe); 0: all count
    std::function<bool(const models::Measurement&)> skip;
    std::function<void(const models::Measurement&)> report;
};

}  // namespace auspex::microbench
