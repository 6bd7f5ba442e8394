#pragma once
/// @file Times context switches: what processes of one core cost each other when they alternate.
#include "microbench/message_bench.hpp"

namespace auspex::microbench {

/// Requires all ranks on one computer. Where ranks are bound and rank 0 shares its core with others (`ranks` = all on
/// that core), a token circulates among those. The holder runs kernels of a layer on `bytes` of operands of its own
/// (about 0.5 to 4 MB), or only rank 0 does (`active` = 1), and passes it on.
/// kind "host":
///   "turn": seconds of the kernels that a holder runs, median over the ranks that run them
///   "pass": seconds from the end of one holder's kernels to the start of the next one's, the mean of a round
void run_context_switch_bench(const BenchSetup& bench);
/// The kernels of one layer that a holder runs, of width 48 on 88 tokens: as large as those of a small model, and of no
/// workload file.
[[nodiscard]] std::vector<models::CpuCall> context_switch_calls();

}  // namespace auspex::microbench
