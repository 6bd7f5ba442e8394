/// @file Rates of kernels.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "compare/kineto/explain/explain.hpp"
#include "compare/kineto/explain/robust.hpp"
#include "models/attention/attention_choice.hpp"
#include "models/kernel_cost.hpp"

namespace auspex::kineto {
namespace {

/// What bounds a kernel, by which constants it can tell of.
enum class Bound : std::uint8_t { kProducts, kProductsFp32, kAttention, kMemory, kCount };

/// All slots of one operation that tell of the same constant.
struct OfOperation {
    std::vector<double> logs, predicted_s;  ///< of each: ln(measured / predicted)
    double measured_sum_s = 0, predicted_sum_s = 0;
    double least_sum_s = 0;  ///< bytes over hbm_bandwidth; 0: not told
};

struct Observations {
    std::map<std::size_t, OfOperation> operations;  ///< by number of the operation's name
    double skipped = 0;
};

constexpr double kMostSpread = 1;

struct RateText {
    const char* operations;
    std::string path;
    const char* behind;  ///< where the first may not be so large
    const char* peak;    ///< which no value behind it may pass, where the file has it as specified
    const char* amount;  ///< what there would be too much of
};

std::array<RateText, 4> rates_of(const models::Inputs& inputs) {
    return {{
        {"products", "stack.kernels.gemm_efficiency", "machine.tile.gemm_bf16", "machine.tile.peak_bf16", "FLOP"},
        {"products", "stack.kernels.gemm_efficiency", "machine.tile.gemm_fp32", nullptr, "FLOP"},
        {"attention", efficiency_path(attention_kernel(inputs.machine.tile, inputs.stack)), nullptr, nullptr, "FLOP"},
        {"kernels bound by memory", "machine.tile.memory_efficiency", "machine.tile.hbm_bandwidth",
         "machine.tile.hbm_bandwidth", "bytes"},
    }};
}

Bound bound_of(const models::Kernel& kernel, const models::Inputs& inputs) {
    models::Kernel bytes_only = kernel;
    bytes_only.work_flop = 0;
    const double whole = models::kernel_time(kernel, inputs.machine, inputs.stack).rate_bound_s;
    const double bytes = models::kernel_time(bytes_only, inputs.machine, inputs.stack).rate_bound_s;
    if (kernel.type == models::KernelType::kMemory || whole <= bytes) {
        return Bound::kMemory;
    }
    return kernel.type == models::KernelType::kAttention ? Bound::kAttention
           : kernel.operands == models::Operands::kFp32  ? Bound::kProductsFp32
                                                         : Bound::kProducts;
}

/// What its bytes take at the whole hbm_bandwidth; 0 where the router says how many they are.
double least_s(const Slot& slot, const models::Kernel& kernel, const models::Inputs& inputs) {
    return kernel.routed ? 0 : slot.share * kernel.repeat * kernel.bytes / inputs.machine.tile.hbm_bytes_per_s;
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
        const schedule::Operation& op = program.operations[slot.operation];
        OfOperation& same = one.operations[schedule::operation_name_index(op.kind, op.phase)];
        same.logs.push_back(std::log(seconds[j] / slot.kernel_s));
        same.predicted_s.push_back(slot.kernel_s);
        same.measured_sum_s += seconds[j];
        same.predicted_sum_s += slot.kernel_s;
        same.least_sum_s += least_s(slot, program.kernels[slot.kernel], inputs);
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

const Constant* specified(const models::Inputs& inputs, const char* path) {
    const Constant* const constant = path == nullptr ? nullptr : find_constant(inputs, path);
    return constant != nullptr && constant->kind == ConstantKind::kSpecified ? constant : nullptr;
}

std::string text_of(const Constant& constant) {
    return constant.path + " (" + in_unit(constant.value, constant.dimension) + ", specified)";
}

/// Operations that take less time than a specified bandwidth allows tell of their bytes, and of no rate.
void leave_out_impossible(RunDiff& diff, Observations& seen, const RateText& text, const models::Inputs& inputs) {
    const Constant* const bandwidth = specified(inputs, text.peak);
    if (bandwidth == nullptr || bandwidth->dimension != Dimension::kBytesPerSecond) {
        return;
    }
    std::erase_if(seen.operations, [&](const auto& one) {
        const OfOperation& same = one.second;
        if (same.measured_sum_s >= same.least_sum_s) {
            return false;
        }
        diff.notes.push_back(schedule::operation_name(one.first) + " took " +
                             percent(same.measured_sum_s / same.predicted_sum_s, 0) +
                             " of the time predicted, less than its bytes take at " + text_of(*bandwidth) +
                             ": the model's bytes of it are too many; no rate is taken from it");
        return true;
    });
}

Middle middle_of(const Observations& seen) {
    std::vector<WeightedValue> logs;
    for (const auto& [name, same] : seen.operations) {
        for (std::size_t i = 0; i < same.logs.size(); ++i) {
            logs.push_back({same.logs[i], same.predicted_s[i], name});
        }
    }
    return robust_middle(logs);
}

/// Of one path with a value that the file may have and no specified rate forbids; nullptr: not so.
const Constant* that_explains(const char* path, const RateText& text, const models::Inputs& inputs, double faster) {
    const Constant* const constant = path == nullptr ? nullptr : find_constant(inputs, path);
    const Constant* const peak = path == text.behind ? specified(inputs, text.peak) : nullptr;
    const bool is_there = constant != nullptr && (peak == nullptr || constant->value * faster <= peak->value);
    return is_there && is_allowed(inputs, {path, constant->dimension, constant->value * faster}) ? constant : nullptr;
}

ExplainingConstant explaining_of(const Constant& constant, const Observations& seen, const RateText& text,
                                 const Middle& middle, double ranks) {
    ExplainingConstant one;
    one.path = constant.path;
    one.dimension = constant.dimension;
    one.operations = text.operations;
    one.value = constant.value;
    one.explaining = constant.value * std::exp(-middle.value);
    one.spread = middle.spread;
    for (const auto& [name, same] : seen.operations) {
        one.count += static_cast<double>(same.logs.size());
        one.measured_s += same.measured_sum_s / ranks;
        one.predicted_s += same.predicted_sum_s / ranks;
    }
    return one;
}

void add_rate(RunDiff& diff, const Observations& seen, const RateText& text, const models::Inputs& inputs,
              double ranks) {
    if (seen.operations.empty()) {
        return;
    }
    const Middle middle = middle_of(seen);
    if (middle.spread > kMostSpread) {
        diff.notes.push_back(
            std::string(text.operations) + ": measured over predicted spreads by " + percent(middle.spread, 0) +
            " about its middle" +
            (middle.leans_on ? ", with and without " + schedule::operation_name(*middle.leans_on) : "") +
            "; no one rate explains that");
        return;
    }
    const double faster = std::exp(-middle.value);
    for (const char* const path : {text.path.c_str(), text.behind}) {
        if (const Constant* const constant = that_explains(path, text, inputs, faster)) {
            diff.constants.push_back(explaining_of(*constant, seen, text, middle, ranks));
            if (path != text.path) {
                diff.constants.back().note = text.path + " may not be as large as " +
                                             six_digits(find_constant(inputs, text.path)->value * faster);
            }
            return;
        }
    }
    const Constant* const peak = specified(inputs, text.peak);
    const Constant* const behind = text.behind == nullptr ? nullptr : find_constant(inputs, text.behind);
    const bool is_impossible = peak != nullptr && behind != nullptr && behind->value * faster > peak->value;
    diff.notes.push_back(std::string(text.operations) + " ran " + six_digits(faster) + " times as fast as predicted, " +
                         (is_impossible ? "faster than " + text_of(*peak) + " allows: the model's " + text.amount +
                                              " of them are too many"
                                        : "which no value of " + text.path + " that the file may have explains"));
}

}  // namespace

void explain_kernels(RunDiff& diff, const std::vector<MatchedRank>& ranks, const models::Inputs& inputs,
                     const schedule::Program& program) {
    std::array<Observations, 4> all;
    for (const MatchedRank& rank : ranks) {
        observe(all, rank, inputs, program);
    }
    const std::array<RateText, 4> rates = rates_of(inputs);
    for (std::size_t bound = 0; bound < all.size(); ++bound) {
        leave_out_impossible(diff, all[bound], rates[bound], inputs);
        add_rate(diff, all[bound], rates[bound], inputs, static_cast<double>(ranks.size()));
    }
    const double skipped = all[static_cast<std::size_t>(Bound::kMemory)].skipped;
    if (skipped > 0) {
        diff.notes.push_back(thousands(skipped / static_cast<double>(ranks.size())) +
                             " operations bound by memory ran as other numbers of kernels than the stack's "
                             "kernels.counts have; no rate is taken from them");
    }
}

}  // namespace auspex::kineto
