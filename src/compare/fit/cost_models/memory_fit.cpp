/// @file Copies over working sets of many sizes; kernels with operands from memory beside the same from the cache.
#include "compare/fit/cost_models/memory_fit.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "compare/fit/cost_models/full_speed.hpp"
#include "compare/fit/cost_models/kernel_fit.hpp"
#include "compare/fit/cost_models/piecewise_linear_fit.hpp"
#include "compare/fit/cost_models/verdict.hpp"

namespace auspex::fit {
namespace {

/// Copies of smaller sets stay in a core's own caches.
constexpr double kBeyondOwnCaches = 1.0 / 8;

std::vector<models::Measurement> copies_alone(const std::vector<models::Measurement>& rows, double cache_bytes) {
    std::vector<models::Measurement> copies = timed_cpu_rows(rows, "copy");
    std::erase_if(copies, [&](const models::Measurement& row) {
        return row.active != 1 || row.bytes < kBeyondOwnCaches * cache_bytes;
    });
    return copies;
}

/// Rows from memory of one law, with what the same call takes from the cache.
struct MissRows {
    std::vector<models::Measurement> rows;
    std::vector<double> cached_s, moved_bytes;
};

MissRows miss_rows(const std::vector<models::Measurement>& rows, const FittedKernelCost& cost,
                   const models::CpuModel& known) {
    MissRows found;
    for (const models::Measurement& row : rows_of(rows, "kernel", to_string(cost.kernel))) {
        if (row.precision != to_string(cost.precision) || row.where != "memory" || row.active != 1) {
            continue;
        }
        if (row.bytes <= 0) {
            throw InputError("measurements",
                             "found a timing of " + row.name +
                                 " from memory without bytes; expected the working set that its operands "
                                 "come out of (auspex calibrate --fresh measures again)");
        }
        const models::CpuCall call = call_of(row);
        const models::Measurement* const near = row_from_cache(rows, row);
        found.rows.push_back(row);
        found.cached_s.push_back(near != nullptr ? near->seconds : cpu_seconds(known, call, cost.precision));
        found.moved_bytes.push_back(cpu_bytes(call, cost.precision));
    }
    return found;
}

std::vector<PiecewiseLinearRow> piecewise_linear_rows(const MissRows& misses) {
    std::vector<PiecewiseLinearRow> rows;
    for (std::size_t i = 0; i < misses.rows.size(); ++i) {
        rows.push_back({misses.moved_bytes[i], misses.rows[i].bytes, misses.cached_s[i], misses.rows[i].seconds});
    }
    return rows;
}

bool has_several_sets(const MissRows& misses) {
    return std::any_of(misses.rows.begin(), misses.rows.end(),
                       [&](const models::Measurement& row) { return row.bytes != misses.rows.front().bytes; });
}

void set_miss_byte(const PiecewiseLinearFit& knee, const MissRows& misses, FittedKernelCost& cost) {
    constexpr double kMin = 1e-14;
    cost.miss_byte_s =
        fitted(knee.miss_byte_s, "fitted to " + std::to_string(misses.rows.size()) + " timings from memory");
    cost.miss_byte_s->value = std::max(kMin, cost.miss_byte_s->value);
}

/// Both, where several sets were gone through: the reach is sought among sizes up to the stated cache's.
void fit_capacity(const MissRows& misses, const FittedCpu& cpu, FittedKernelCost& cost) {
    constexpr int kSizes = 32;
    const PiecewiseLinearFit knee = fit_piecewise_linear(
        piecewise_linear_rows(misses), capacities_up_to(cpu.max_cache_bytes, kSizes, 2), CachedCost::kKnown);
    cost.capacity_bytes = fitted(knee.capacity_bytes, "kernels on working sets of several sizes");
    set_miss_byte(knee, misses, cost);
}

double capacity_of(const FittedCpu& cpu, const FittedKernelCost& cost) {
    return cost.capacity_bytes ? cost.capacity_bytes->value : cpu.cache_bytes.value;
}

void fit_miss_byte(const MissRows& misses, const FittedCpu& cpu, FittedKernelCost& cost) {
    if (!misses.rows.empty() && !cost.miss_byte_s) {
        set_miss_byte(fit_piecewise_linear(piecewise_linear_rows(misses), {capacity_of(cpu, cost)}, CachedCost::kKnown),
                      misses, cost);
    }
}

void add_points(const MissRows& misses, const FittedCpu& cpu, const FittedKernelCost& cost, FitQuality& quality) {
    for (std::size_t i = 0; i < misses.rows.size(); ++i) {
        const double missing = models::miss_ratio(capacity_of(cpu, cost), misses.rows[i].bytes);
        quality.points.push_back(misses.rows[i]);
        quality.predicted.push_back(misses.cached_s[i] + misses.moved_bytes[i] * missing * cost.miss_byte_s->value);
    }
}

/// The same kernel's law in the other precision.
const FittedKernelCost* cost_in_other_precision(const FittedCpu& cpu, const FittedKernelCost& cost) {
    const auto other =
        std::find_if(cpu.kernel_costs.begin(), cpu.kernel_costs.end(), [&](const FittedKernelCost& candidate) {
            return candidate.kernel == cost.kernel && candidate.precision != cost.precision;
        });
    return other == cpu.kernel_costs.end() ? nullptr : &*other;
}

}  // namespace

void fit_cache(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration) {
    constexpr int kSizes = 64;
    const std::vector<models::Measurement> copies = copies_alone(rows, cpu.max_cache_bytes);
    if (copies.size() < 3) {
        throw InputError("measurements",
                         "found too few copies to tell what comes from memory; expected rows of kind \"host\" named "
                         "\"copy\" with one rank active, of sets from an eighth of " +
                             format_quantity(cpu.max_cache_bytes, Dimension::kBytes) + " to several times that");
    }
    std::vector<PiecewiseLinearRow> points;
    for (const models::Measurement& copy : copies) {
        points.push_back({copy.bytes, copy.bytes, 0, copy.seconds});
    }
    PiecewiseLinearFit knee =
        fit_piecewise_linear(points, capacities_up_to(cpu.max_cache_bytes, kSizes), CachedCost::kFitted);
    cpu.cache_bytes = fitted(knee.capacity_bytes, "copies of working sets of many sizes");
    FittedNumber extra = fitted(knee.miss_byte_s, "");
    constexpr double kMin = 1e-13;
    if (extra.value < kMin) {
        extra.value = kMin;
        calibration.warnings.push_back("copies of up to " + format_quantity(largest_bytes(copies), Dimension::kBytes) +
                                       " take no longer than small ones: all lie in a cache, and how fast memory is "
                                       "cannot be told");
    }
    cpu.core_memory_bytes_per_s = inverse_of(
        extra, ConstantKind::kFitted, "copies of sets that the last-level cache does not keep over those that it does");
    FitQuality quality = quality_of("sharing", "copies_alone");
    quality.points = copies;
    quality.predicted = std::move(knee.predicted_s);
    add_quality(std::move(quality), calibration);
}

void fit_memory(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration) {
    const models::CpuModel known = cpu_model_of(cpu);
    for (FittedKernelCost& cost : cpu.kernel_costs) {
        const MissRows misses = miss_rows(rows, cost, known);
        if (has_several_sets(misses)) {
            fit_capacity(misses, cpu, cost);
        }
    }
    for (const models::CpuPrecision precision : {models::CpuPrecision::kFp32, models::CpuPrecision::kBf16}) {
        FitQuality quality = quality_of("kernel", "all_from_memory");
        quality.precision = to_string(precision);
        for (FittedKernelCost& cost : cpu.kernel_costs) {
            if (cost.precision != precision) {
                continue;
            }
            const FittedKernelCost* const other = cost_in_other_precision(cpu, cost);
            if (!cost.capacity_bytes && other != nullptr) {
                cost.capacity_bytes = other->capacity_bytes;
            }
            const MissRows misses = miss_rows(rows, cost, known);
            fit_miss_byte(misses, cpu, cost);
            add_points(misses, cpu, cost, quality);
        }
        add_quality(std::move(quality), calibration);
    }
}

}  // namespace auspex::fit
