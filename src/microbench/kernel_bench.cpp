/// @file Rings of operand sets, and batches of calls on them.
#include "microbench/kernel_bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.hpp"
#include "exec/run/core_probe.hpp"
#include "microbench/kernel_operands.hpp"

namespace auspex::microbench {
namespace {

constexpr std::size_t kMaxCachedSets = 64;
constexpr double kBatch_s = 200e-6;
constexpr std::size_t kMinBatches = 5;
/// Wall time over processor time from which a batch counts as interrupted.
constexpr double kInterrupted = 1.1;

std::size_t sets_for(OperandLocation location, double set_bytes, const MemorySizes& sizes) {
    set_bytes = std::max(set_bytes, models::kCacheLineBytes);
    double wanted = 2 * sizes.last_level_cache_bytes / set_bytes, most = sizes.max_bytes / set_bytes;
    if (location == OperandLocation::kCache) {
        wanted = 4 * sizes.own_cache_bytes / set_bytes;
        most = std::min(static_cast<double>(kMaxCachedSets), sizes.last_level_cache_bytes / 2 / set_bytes);
    }
    return std::max<std::size_t>(kMinOperandSets,
                                 static_cast<std::size_t>(std::min(std::ceil(wanted), std::floor(most))));
}

class Ring : public PreparedKernel {
 public:
    Ring(const models::CpuCall& call, models::CpuPrecision precision, OperandLocation location,
         const MemorySizes& sizes) {
        sets_.push_back(make_operands(call, precision, 1));
        const std::size_t count = sets_for(location, static_cast<double>(sets_.front().arrays.bytes()), sizes);
        while (sets_.size() < count) {
            sets_.push_back(make_operands(call, precision, sets_.size() + 1));
        }
    }
    void run() override {
        sets_[next_].run();
        next_ = next_ + 1 == sets_.size() ? 0 : next_ + 1;
    }

 private:
    std::vector<OperandSet> sets_;
    std::size_t next_ = 0;
};

double wall_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Batch {
    double seconds = 0;      ///< of one call
    double interrupted = 0;  ///< wall time over processor time
};

Batch run_batch(PreparedKernel& kernel, std::size_t calls) {
    const double processor = exec::thread_seconds(), begin = wall_s();
    for (std::size_t i = 0; i < calls; ++i) {
        kernel.run();
    }
    const double wall = wall_s() - begin;
    return {wall / static_cast<double>(calls), wall / std::max(exec::thread_seconds() - processor, 1e-9)};
}

/// Runs the call until it has run long enough to know how many make a batch.
std::size_t calls_of_batch(PreparedKernel& kernel) {
    kernel.run();
    for (std::size_t calls = 1;; calls *= 2) {
        const double seconds = run_batch(kernel, calls).seconds;
        if (seconds * static_cast<double>(calls) >= kBatch_s / 2) {
            return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(kBatch_s / seconds)));
        }
    }
}

Timing timing_of_batches(std::vector<Batch> batches) {
    std::ranges::sort(batches, {}, &Batch::interrupted);
    while (batches.size() > kMinBatches && batches.back().interrupted > kInterrupted) {
        batches.pop_back();
    }
    std::vector<double> seconds;
    for (const Batch& batch : batches) {
        seconds.push_back(batch.seconds);
    }
    return timing_of(seconds);
}

}  // namespace

PreparedKernel::~PreparedKernel() = default;

std::unique_ptr<PreparedKernel> prepare_kernel(const models::CpuCall& call, models::CpuPrecision precision,
                                               OperandLocation location, const MemorySizes& sizes) {
    return std::make_unique<Ring>(call, precision, location, sizes);
}

Timing time_kernel(const models::CpuCall& call, models::CpuPrecision precision, OperandLocation location,
                   const MemorySizes& sizes, double budget_s) {
    const std::unique_ptr<PreparedKernel> kernel = prepare_kernel(call, precision, location, sizes);
    const double end = wall_s() + budget_s;
    const std::size_t calls = calls_of_batch(*kernel);
    std::vector<Batch> batches;
    while (batches.size() < kMinBatches || wall_s() < end) {
        batches.push_back(run_batch(*kernel, calls));
    }
    return timing_of_batches(std::move(batches));
}

}  // namespace auspex::microbench
