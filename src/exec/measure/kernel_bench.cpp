/// @file Rings of operand sets, and calls on them between other calls.
#include "exec/measure/kernel_bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "base/quantiles.hpp"
#include "exec/measure/kernel_operands.hpp"

namespace auspex {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr std::size_t kFewestSets = 2, kMostCachedSets = 64;
/// Operands that are read from memory hold no more than this.
constexpr double kMostBytes = 1024 * kMiB;
constexpr std::size_t kFewestCalls = 5;

/// What a core has for itself, from what Linux tells of its second level; 1 MiB where it tells nothing.
double private_cache_bytes() {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/";
    for (int index = 0; index < 8; ++index) {
        const std::string of = folder + "index" + std::to_string(index) + "/";
        int level = 0;
        double size = 0;
        char unit = 0;
        if (std::ifstream(of + "level") >> level && level == 2 && std::ifstream(of + "size") >> size >> unit) {
            return size * (unit == 'M' ? kMiB : unit == 'K' ? 1024.0 : 1.0);
        }
    }
    return kMiB;
}

std::size_t sets_for(OperandPlace place, double set_bytes, double cache_bytes) {
    constexpr double kLine = 64;
    set_bytes = std::max(set_bytes, kLine);
    double wanted = 2 * cache_bytes / set_bytes, most = kMostBytes / set_bytes;
    if (place == OperandPlace::kCache) {
        wanted = 4 * private_cache_bytes() / set_bytes;
        most = std::min(static_cast<double>(kMostCachedSets), cache_bytes / 2 / set_bytes);
    }
    return std::max(kFewestSets, static_cast<std::size_t>(std::min(std::ceil(wanted), std::floor(most))));
}

class Ring : public PreparedKernel {
 public:
    Ring(const CpuCall& call, CpuPrecision precision, OperandPlace place, double cache_bytes) {
        sets_.push_back(make_operands(call, precision, 1));
        const std::size_t count = sets_for(place, static_cast<double>(sets_.front().arrays.bytes()), cache_bytes);
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
/// Of a layer of some model: products, attention, norms, all of other shapes than those that are timed.
std::vector<CpuCall> calls_between() {
    return {{.kernel = CpuKernel::kNormForward, .rows = 112, .columns = 144},
            {.kernel = CpuKernel::kGemmForward, .rows = 112, .columns = 208, .depth = 144},
            {.kernel = CpuKernel::kAttentionForward, .rows = 56, .depth = 20, .groups = 2},
            {.kernel = CpuKernel::kSwigluForward, .rows = 112, .columns = 144},
            {.kernel = CpuKernel::kGemmInputGradient, .rows = 112, .columns = 144, .depth = 208},
            {.kernel = CpuKernel::kGemmWeightGradient, .rows = 112, .columns = 144, .depth = 144}};
}

}  // namespace

PreparedKernel::~PreparedKernel() = default;

std::unique_ptr<PreparedKernel> prepare_kernel(const CpuCall& call, CpuPrecision precision, OperandPlace place,
                                               double cache_bytes) {
    return std::make_unique<Ring>(call, precision, place, cache_bytes);
}

Interlude::Interlude() {
    constexpr double kCache = kMiB / 2;  // sets of each kernel: two, or what half of this holds
    for (const CpuCall& call : calls_between()) {
        kernels_.push_back(prepare_kernel(call, CpuPrecision::kFp32, OperandPlace::kCache, kCache));
    }
}

void Interlude::run() {
    for (const std::unique_ptr<PreparedKernel>& kernel : kernels_) {
        kernel->run();
    }
}

KernelTiming time_kernel(Interlude& interlude, const CpuCall& call, CpuPrecision precision, OperandPlace place,
                         double cache_bytes, double budget_s) {
    const std::unique_ptr<PreparedKernel> kernel = prepare_kernel(call, precision, place, cache_bytes);
    kernel->run();
    std::vector<double> seconds;
    for (const double end = wall_s() + budget_s; seconds.size() < kFewestCalls || wall_s() < end;) {
        interlude.run();
        const double begin = wall_s();
        kernel->run();
        seconds.push_back(wall_s() - begin);
    }
    return {median(seconds), relative_spread(seconds), static_cast<int>(seconds.size())};
}

}  // namespace auspex
