#pragma once
/// @file Times kernels and copies on cores that compute at the same time.
#include <vector>

#include "microbench/bench_setup.hpp"
#include "models/cpu/cpu_kernel.hpp"

namespace auspex::microbench {

/// Requires all ranks on one computer, which may be several nodes to them.
/// With every rank of the communicator at work at the same time (`active` = ranks = all of them), medians over ranks
/// and over intervals of 60 ms:
/// kind "kernel": wall time of a call, operands in the last-level cache when it has room (OperandLocation::kCache),
/// fp32; kind "host":
///   "copy": seconds of one pass over a working set of `bytes`, one half copied into the other: by powers of two from
///   128 KiB to 128 MiB, or four times the last level where that is more, and 3/4 and 5/4 of the largest, which
///   `sizes.max_bytes` bounds
///   "slice": where ranks are bound and share cores, the time that a core stays with one that computes while another
///   one could: the median pause between two of its time slices over the number of others on its core
void run_sharing_bench(const BenchSetup& bench);
/// Its kernels: products that stay in a core's caches, and streaming kernels, which contention slows by different
/// shares. None is of a workload file.
[[nodiscard]] std::vector<models::CpuCall> sharing_calls();

}  // namespace auspex::microbench
