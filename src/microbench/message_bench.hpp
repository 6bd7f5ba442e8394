#pragma once
/// @file Times messages, collectives and the sharing of cores between the ranks of a communicator: no model, no step.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/transport/communicator.hpp"
#include "microbench/bench_setup.hpp"
#include "microbench/kernel_bench.hpp"
#include "models/cpu/cpu_kernel.hpp"
#include "models/measurement.hpp"

namespace auspex::microbench {

/// kind "message" (ranks 2, active 1, over 8 B to 64 MiB): between rank 0 and the next rank of its node that is bound
/// to another core (intra-node, `where` "near"), and the first rank of another node (inter-node, `where` "far"; one on
/// another core if there is one), with the calls that a step makes for messages between stages, whose sender copies the
/// message first:
///   "ping_pong": half a round trip
///   "send": the sender's time for one message, until it can go on
///   "stream": time per message of several in succession, until the last has arrived
/// kind "collective": all_reduce, reduce_scatter, all_gather, all_to_all of fp32 over groups of 2, 4, 8 … neighbouring
/// ranks, for 8 B to 64 MiB (more than 8 ranks: 16 MiB; bytes as in schedule/program/communication.hpp): one group
/// alone (`active` = ranks), and all groups at once (`active` = all ranks).
///
/// Small calls are timed in batches of several in succession, of at least 2 ms; seconds are those of one call, of the
/// slowest rank, the median over batches, and then over trials (trials.hpp). A batch is disturbed if the probe of a
/// rank beside it took longer than undisturbed_probe_s. Disturbed batches are left out where three others of the trial
/// are there; else the trial is disturbed.
void run_message_bench(const BenchSetup& bench);

}  // namespace auspex::microbench
