/// @file Copies over working sets of many sizes; kernels with operands from memory beside the same from the cache.
#include "compare/memory_fit.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/units.hpp"
#include "compare/kernel_fit.hpp"
#include "compare/positive_fit.hpp"

namespace auspex {
namespace {

constexpr int kBootstraps = 200;
constexpr std::uint64_t kSeed = 20'203;
/// Copies of smaller sets stay in a core's own caches.
constexpr double kBeyondOwnCaches = 1.0 / 8;

std::vector<Measurement> copies_alone(const std::vector<Measurement>& rows, double cache_bytes) {
    std::vector<Measurement> copies = rows_of(rows, "host", "copy");
    std::erase_if(
        copies, [&](const Measurement& row) { return row.active != 1 || row.bytes < kBeyondOwnCaches * cache_bytes; });
    return copies;
}

/// Coefficients: seconds of a byte from the cache, and more of one from memory.
PositiveFit fit_copies(const std::vector<Measurement>& copies, double cache_bytes, int bootstraps) {
    std::vector<Observation> observations;
    for (const Measurement& copy : copies) {
        observations.push_back({{copy.bytes, copy.bytes * missing_share(cache_bytes, copy.bytes)}, copy.seconds, 1});
    }
    return fit_positive(observations, bootstraps, kSeed);
}

double squared_error(const PositiveFit& fit) {
    double sum = 0;
    for (const double residual : fit.residuals) {
        sum += residual * residual;
    }
    return sum;
}

/// The row of the same call with operands from the cache.
const Measurement* from_cache(const std::vector<Measurement>& rows, const Measurement& far) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const Measurement& row) {
        return row.kind == "kernel" && row.where == "cache" && row.active == 1 && row.name == far.name &&
               row.precision == far.precision && row.rows == far.rows && row.columns == far.columns &&
               row.depth == far.depth && row.groups == far.groups;
    });
    return same == rows.end() ? nullptr : &*same;
}

/// Rows from memory of one law, with what the same call takes from the cache.
struct FarRows {
    std::vector<Measurement> rows;
    std::vector<double> near_s, moved_bytes;
};

FarRows far_rows(const std::vector<Measurement>& rows, const FittedLaw& law, const Host& known) {
    FarRows found;
    for (const Measurement& row : rows_of(rows, "kernel", to_string(law.kernel))) {
        if (row.precision != to_string(law.precision) || row.where != "memory" || row.active != 1) {
            continue;
        }
        if (row.bytes <= 0) {
            throw InputError("measurements",
                             "found a timing of " + row.name +
                                 " from memory without bytes; expected the working set that its operands "
                                 "come out of (auspex calibrate --fresh measures again)");
        }
        const CpuCall call = call_of(row);
        const Measurement* const near = from_cache(rows, row);
        found.rows.push_back(row);
        found.near_s.push_back(near != nullptr ? near->seconds : cpu_seconds(known, call, law.precision));
        found.moved_bytes.push_back(cpu_bytes(call, law.precision));
    }
    return found;
}

/// The whole time less what the call takes from the cache; an extra that is noise counts as none.
std::vector<Observation> extras_of(const FarRows& far, double reach_bytes) {
    std::vector<Observation> extras;
    for (std::size_t i = 0; i < far.rows.size(); ++i) {
        const double least = 1e-3 * far.near_s[i];
        const double extra = std::max(least, far.rows[i].seconds - far.near_s[i]);
        const double share = extra / far.rows[i].seconds;
        extras.push_back({{far.moved_bytes[i] * missing_share(reach_bytes, far.rows[i].bytes)}, extra, share * share});
    }
    return extras;
}

/// Sum of squares of what is left of whole times.
double squared_error(const FarRows& far, const std::vector<Observation>& extras, double far_byte_s) {
    double sum = 0;
    for (std::size_t i = 0; i < extras.size(); ++i) {
        const double left = (extras[i].sizes[0] * far_byte_s - extras[i].y) / far.rows[i].seconds;
        sum += left * left;
    }
    return sum;
}

bool has_several_sets(const FarRows& far) {
    return std::any_of(far.rows.begin(), far.rows.end(),
                       [&](const Measurement& row) { return row.bytes != far.rows.front().bytes; });
}

/// The reach that leaves least, among sizes up to the stated cache's.
void fit_reach(const FarRows& far, const FittedHost& host, FittedLaw& law) {
    constexpr int kSizes = 32;
    double best = 0;
    for (int i = 2; i <= kSizes; ++i) {
        const double reach = host.stated_cache_bytes * i / kSizes;
        const std::vector<Observation> extras = extras_of(far, reach);
        const double left = squared_error(far, extras, fit_positive(extras, 0, kSeed).coefficients.front().value);
        if (!law.reach_bytes || left < best) {
            const double step = host.stated_cache_bytes / kSizes;
            law.reach_bytes = FittedNumber{reach, std::max(step, reach - step), reach + step, ConstantKind::kFitted,
                                           "kernels on working sets of several sizes"};
            best = left;
        }
    }
}

void fit_far_byte(const FarRows& far, const FittedHost& host, FittedLaw& law) {
    constexpr double kLeast = 1e-14;
    if (far.rows.empty()) {
        return;
    }
    const double reach = law.reach_bytes ? law.reach_bytes->value : host.cache_bytes.value;
    const FittedCoefficient coefficient = fit_positive(extras_of(far, reach), kBootstraps, kSeed).coefficients.front();
    law.far_byte_s =
        FittedNumber{std::max(kLeast, coefficient.value), coefficient.low, coefficient.high, ConstantKind::kFitted,
                     "fitted to " + std::to_string(far.rows.size()) + " timings from memory"};
}

void add_quality(const FarRows& far, const FittedHost& host, const FittedLaw& law, FitQuality& quality) {
    const double reach = law.reach_bytes ? law.reach_bytes->value : host.cache_bytes.value;
    for (std::size_t i = 0; i < far.rows.size(); ++i) {
        const double missing = missing_share(reach, far.rows[i].bytes);
        quality.points.push_back(far.rows[i]);
        quality.predicted.push_back(far.near_s[i] + far.moved_bytes[i] * missing * law.far_byte_s->value);
    }
}

/// The same kernel's law in the other precision.
const FittedLaw* other_law(const FittedHost& host, const FittedLaw& law) {
    const auto other = std::find_if(host.laws.begin(), host.laws.end(), [&](const FittedLaw& candidate) {
        return candidate.kernel == law.kernel && candidate.precision != law.precision;
    });
    return other == host.laws.end() ? nullptr : &*other;
}

}  // namespace

void fit_cache(const std::vector<Measurement>& rows, FittedHost& host) {
    constexpr int kSizes = 64;
    constexpr double kWorse = 1.5;  // sizes whose squared error is within this of the best are in the interval
    const double stated = host.stated_cache_bytes;
    const std::vector<Measurement> copies = copies_alone(rows, stated);
    if (copies.size() < 3) {
        return;
    }
    std::vector<double> errors;
    for (int i = 1; i <= kSizes; ++i) {
        errors.push_back(squared_error(fit_copies(copies, stated * i / kSizes, 0)));
    }
    const auto best = std::min_element(errors.begin(), errors.end());
    const auto size_at = [&](std::ptrdiff_t place) { return stated * static_cast<double>(place + 1) / kSizes; };
    auto low = best, high = best;
    while (low != errors.begin() && *(low - 1) <= kWorse * *best) {
        --low;
    }
    while (high + 1 != errors.end() && *(high + 1) <= kWorse * *best) {
        ++high;
    }
    host.cache_bytes = {size_at(best - errors.begin()), size_at(low - errors.begin()), size_at(high - errors.begin()),
                        ConstantKind::kFitted, "copies of working sets of many sizes"};
}

void fit_memory(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    const std::vector<Measurement> copies = copies_alone(rows, host.stated_cache_bytes);
    if (copies.size() < 3) {
        throw InputError("measurements",
                         "found too few copies to tell what comes from memory; expected rows of kind \"host\" named "
                         "\"copy\" with one rank active, of sets from an eighth of " +
                             format_quantity(host.stated_cache_bytes, Dimension::kBytes) + " to several times that");
    }
    const FittedCoefficient extra = fit_copies(copies, host.cache_bytes.value, kBootstraps).coefficients[1];
    const double least = 1e-13;
    host.core_memory_bytes_per_s = {1 / std::max(extra.value, least), 1 / std::max(extra.high, least),
                                    1 / std::max(extra.low, least), ConstantKind::kFitted,
                                    "copies of sets that the last-level cache does not keep over those that it does"};
    const Host known = host_of(host);
    for (FittedLaw& law : host.laws) {
        const FarRows far = far_rows(rows, law, known);
        if (has_several_sets(far)) {
            fit_reach(far, host, law);
        }
    }
    for (const CpuPrecision precision : {CpuPrecision::kFp32, CpuPrecision::kBf16}) {
        FitQuality quality;
        quality.kind = "kernel";
        quality.name = "all_from_memory";
        quality.precision = to_string(precision);
        for (FittedLaw& law : host.laws) {
            if (law.precision != precision) {
                continue;
            }
            const FittedLaw* const other = other_law(host, law);
            if (!law.reach_bytes && other != nullptr) {
                law.reach_bytes = other->reach_bytes;
            }
            const FarRows far = far_rows(rows, law, known);
            fit_far_byte(far, host, law);
            add_quality(far, host, law, quality);
        }
        if (!quality.points.empty()) {
            judge(quality);
            calibration.fits.push_back(std::move(quality));
        }
    }
}

}  // namespace auspex
