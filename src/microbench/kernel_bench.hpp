#pragma once
/// @file Times the trainer's kernels by themselves, on arrays of their own: no model, no step.
#include <memory>
#include <vector>

#include "microbench/trials.hpp"
#include "models/cpu/cache.hpp"
#include "models/cpu/cpu_kernel.hpp"

namespace auspex::microbench {

/// Where a call's operands are when it begins. In a step other tensors have passed through a core's own caches since,
/// so that kCache is a last-level cache: calls cycle through sets of operands that together are larger than the core's
/// own caches. kMemory: the sets together are larger than the last-level cache too.
enum class OperandLocation { kCache, kMemory };

/// What decides how much memory is gone through: where a core's own caches and the last level end, and what a process
/// may take in all.
struct MemorySizes {
    double own_cache_bytes = models::kAssumedOwnCacheBytes;
    double last_level_cache_bytes = models::kAssumedLastLevelBytes;
    double max_bytes = 1024.0 * 1024 * 1024;
};

/// A call with its arrays, made and filled: what the trainer would run, ready to be run again and again.
class PreparedKernel {
 public:
    PreparedKernel() = default;
    PreparedKernel(const PreparedKernel&) = delete;
    PreparedKernel& operator=(const PreparedKernel&) = delete;
    virtual ~PreparedKernel();
    /// Runs the call once (its `repeat` is ignored), on the next set of operands, cyclically. On one thread at a
    /// time.
    virtual void run() = 0;
};

inline constexpr int kMinOperandSets = 2;

/// Makes the sets of operands that `location` asks for, of random numbers as large as those of training. At least
/// kMinOperandSets; beyond that kCache: four times the core's own caches, but at most 64 sets and half of the last
/// level; kMemory: twice the last level, at most `sizes.max_bytes`. CpuCall::cold_bytes is ignored. Aborts where the
/// call's sizes are not whole positive numbers, or not those of a call that the trainer could make.
[[nodiscard]] std::unique_ptr<PreparedKernel> prepare_kernel(const models::CpuCall& call,
                                                             models::CpuPrecision precision, OperandLocation location,
                                                             const MemorySizes& sizes);

/// Seconds of one call, over batches of them: runs the call on this thread for about `budget_s`, at least 5 batches of
/// at least 200 us; the arrays are made before and are not timed. Batches that the core was taken from for more than a
/// tenth of their time are dropped as long as 5 remain. Routing is even: experts get equal rows.
[[nodiscard]] Timing time_kernel(const models::CpuCall& call, models::CpuPrecision precision, OperandLocation location,
                                 const MemorySizes& sizes, double budget_s);

/// Shapes that calibration times: of every kernel more than its cost model has terms, or as many, over the range of
/// models that are trained on a few cores (widths 32 to 1024, of some products 512 to 2048, rows 16 to 4096, experts 2
/// to 64), none of them that of a workload file. Ordered by kernel.
[[nodiscard]] std::vector<models::CpuCall> calibration_calls();
/// Of each kernel two of them, with operands of about 150 KB and 1.5 MB, that are also timed from memory.
[[nodiscard]] std::vector<models::CpuCall> memory_calls();

}  // namespace auspex::microbench
