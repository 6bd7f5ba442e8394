/// @file Rates of kernels, and the host's times.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "compare/kineto/explain/explain.hpp"
#include "compare/kineto/explain/robust.hpp"
#include "models/kernel_cost.hpp"

namespace auspex::kineto {
namespace {

/// What bounds a kernel, by which constants it can tell of.
enum class Bound : std::uint8_t { kProducts, kProductsFp32, kAttention, kMemory, kCount };

struct Observations {
    std::vector<WeightedValue> logs;  ///< ln(measured / predicted), weight: predicted seconds
    double measured_s = 0, predicted_s = 0, skipped = 0;
};

constexpr double kMostSpread = 1;

struct RateText {
    const char* operations;
    const char* path;
    const char* behind;  ///< where the first may not be so large
};
constexpr std::array<RateText, 4> kRates{{
    {"products", "stack.kernels.gemm_efficiency", "machine.tile.gemm_bf16"},
    {"products", "stack.kernels.gemm_efficiency", "machine.tile.gemm_fp32"},
    {"attention", "machine.tile.attention_efficiency", nullptr},
    {"kernels bound by memory", "machine.tile.memory_efficiency", "machine.tile.hbm_bandwidth"},
}};

Bound bound_of(const models::Kernel& kernel, const models::Inputs& inputs) {
    models::Kernel bytes_only = kernel;
    bytes_only.work_flop = 0;
    const double whole = models::kernel_time(kernel, inputs.machine, inputs.stack).rate_bound_s;
    const double bytes = models::kernel_time(bytes_only, inputs.machine, inputs.stack).rate_bound_s;
    if (kernel.type == models::KernelType::kMemory || whole <= bytes) {
        return Bound::kMemory;
    }
    return kernel.type == models::KernelType::kAttention ? Bound::kAttention
           : kernel.fp32                                 ? Bound::kProductsFp32
                                                         : Bound::kProducts;
}

/// One rank's slots that have kernels.
void observe(std::array<Observations, 4>& all, const MatchedRank& rank, const models::Inputs& inputs,
             const schedule::Program& program) {
    const std::vector<Slot>& slots = rank.predicted.slots;
    std::vector<double> seconds(slots.size(), 0), kernels(slots.size(), 0);
    for (std::size_t i = 0; i < rank.measured.kernels.size(); ++i) {
        if (rank.match.slot[i] != kNone) {
            seconds[rank.match.slot[i]] += to_seconds(rank.measured.kernels[i].length());
            ++kernels[rank.match.slot[i]];
        }
    }
    for (std::size_t j = 0; j < slots.size(); ++j) {
        const Slot& slot = slots[j];
        if (kernels[j] == 0 || seconds[j] <= 0 || slot.kernel_s <= 0) {
            continue;
        }
        Observations& one = all[static_cast<std::size_t>(bound_of(program.kernels[slot.kernel], inputs))];
        const bool is_alike = slot.type != models::KernelType::kMemory ||
                              (kernels[j] >= 0.5 * slot.launches && kernels[j] <= 1.5 * slot.launches);
        if (!is_alike) {
            ++one.skipped;
            continue;
        }
        one.logs.push_back({std::log(seconds[j] / slot.kernel_s), slot.kernel_s});
        one.measured_s += seconds[j];
        one.predicted_s += slot.kernel_s;
    }
}

bool is_allowed(const models::Inputs& inputs, const ChangedConstant& change) {
    try {
        (void)with_constants(inputs, {change});
        return true;
    } catch (const InputError&) {
        return false;
    }
}

void add_rate(RunDiff& diff, const Observations& seen, const RateText& text, const models::Inputs& inputs,
              double ranks) {
    if (seen.logs.empty()) {
        return;
    }
    const Middle middle = robust_middle(seen.logs);
    if (middle.spread > kMostSpread) {
        diff.notes.push_back(std::string(text.operations) + ": measured over predicted spreads by " +
                             percent(middle.spread, 0) + " about its middle; no one rate explains that");
        return;
    }
    const double faster = std::exp(-middle.value);
    for (const char* path : {text.path, text.behind}) {
        const Constant* const constant = path == nullptr ? nullptr : find_constant(inputs, path);
        if (constant == nullptr || !is_allowed(inputs, {path, constant->dimension, constant->value * faster})) {
            continue;
        }
        ExplainingConstant explaining;
        explaining.path = path;
        explaining.dimension = constant->dimension;
        explaining.operations = text.operations;
        explaining.value = constant->value;
        explaining.explaining = constant->value * faster;
        explaining.count = static_cast<double>(seen.logs.size());
        explaining.spread = middle.spread;
        explaining.measured_s = seen.measured_s / ranks;
        explaining.predicted_s = seen.predicted_s / ranks;
        if (path != text.path) {
            explaining.note = std::string(text.path) + " may not be as large as " +
                              six_digits(find_constant(inputs, text.path)->value * faster);
        }
        diff.constants.push_back(explaining);
        return;
    }
    diff.notes.push_back(std::string(text.operations) + " ran " + six_digits(faster) + " times as fast as predicted, " +
                         "which no value of " + text.path + " that the file may have explains");
}

}  // namespace

void explain_kernels(RunDiff& diff, const std::vector<MatchedRank>& ranks, const models::Inputs& inputs,
                     const schedule::Program& program) {
    std::array<Observations, 4> all;
    for (const MatchedRank& rank : ranks) {
        observe(all, rank, inputs, program);
    }
    for (std::size_t bound = 0; bound < all.size(); ++bound) {
        add_rate(diff, all[bound], kRates[bound], inputs, static_cast<double>(ranks.size()));
    }
    const double skipped = all[static_cast<std::size_t>(Bound::kMemory)].skipped;
    if (skipped > 0) {
        diff.notes.push_back(thousands(skipped / static_cast<double>(ranks.size())) +
                             " operations bound by memory ran as other numbers of kernels than the stack's "
                             "kernels.counts have; no rate is taken from them");
    }
}

}  // namespace auspex::kineto
