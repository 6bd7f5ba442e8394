#pragma once
/// @file Times messages, collectives and the sharing of cores between the ranks of a communicator: no model, no step.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/communicator.hpp"
#include "exec/measure/kernel_bench.hpp"
#include "models/cpu_kernel.hpp"
#include "models/measurement.hpp"

namespace auspex {

/// What every rank runs together. Rank 0 calls `report` with each measurement as it is made, and `skip` is asked, on
/// rank 0, before any is made, whether it is there already (sizes and names are set, seconds are not); the others
/// follow. Ranks that take no part in a measurement sleep.
struct MessageBench {
    Communicator& communicator;  ///< whatever its layout: calls go over its world
    /// Another communicator of the same ranks; all ranks call it with the same layouts in the same order.
    std::function<std::unique_ptr<Communicator>(const Layout&)> make_communicator;
    std::vector<int> node_of_rank;  ///< which ranks are near each other; empty: all
    double budget_s = 10;           ///< of all measurements together, about: each is repeated at least 3 times
    MemorySizes sizes;              ///< for run_sharing_bench
    double calm_probe_s = 0;  ///< rows count while probes of all cores take up to this (CoreProbe); 0: all rows count
    std::function<bool(const Measurement&)> skip;
    std::function<void(const Measurement&)> report;
};

/// kind "message" (ranks 2, active 1, over 8 B to 64 MiB): between rank 0 and the next rank of its node that is bound
/// to another core (`where` near), and the first rank of another node (far; one on another core if there is one), by
/// way of the calls that a step makes for messages between stages, whose sender copies the message first:
///   "ping_pong": half a round trip
///   "send": the sender's time for one message, until it can go on
///   "stream": time per message of a row of them, until the last has come
/// kind "collective": all_reduce, reduce_scatter, all_gather, all_to_all of fp32 over groups of 2, 4, 8 … neighbouring
/// ranks, for 8 B to 64 MiB (more than 8 ranks: 16 MiB; bytes as in schedule/communication.hpp): one group alone
/// (`active` = ranks), and all groups at once (`active` = all ranks).
///
/// Small calls are timed in rows of several, one right after another, of at least 2 ms; seconds are those of one call,
/// of the slowest rank, and the median over rows, and over looks of those (looks.hpp). Rows beside which the probe of a
/// rank took longer than calm_probe_s are left out where three others of the look are there; else it was a look at
/// slowed cores.
void run_message_bench(const MessageBench& bench);

/// Requires all ranks on one computer, which may be several nodes to them.
/// With every rank of the communicator at work at the same time (`active` = ranks = all of them), medians over ranks
/// and stretches of 60 ms:
/// kind "kernel": wall time of a call, operands in the last-level cache when it has room (OperandPlace::kCache), fp32;
/// kind "host":
///   "copy": seconds of one pass over a working set of `bytes`, one half copied into the other: by powers of two from
///   128 KiB to 128 MiB, or four times the last level where that is more, and 3/4 and 5/4 of the largest, which
///   `sizes.most_bytes` bounds
///   "slice": where ranks are bound and share cores, the time that a core stays with one that computes while another
///   one could: the median pause between two of its turns over the number of others on its core
void run_sharing_bench(const MessageBench& bench);
/// Its kernels: products that stay in a core's caches, and what streams, for others slow each down by another share.
/// None is of a workload file.
[[nodiscard]] std::vector<CpuCall> sharing_calls();

}  // namespace auspex
