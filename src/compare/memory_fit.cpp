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
    std::vector<double> near_s, missing_bytes;
};

FarRows far_rows(const std::vector<Measurement>& rows, const FittedLaw& law, const FittedHost& host,
                 const Host& known) {
    FarRows found;
    for (const Measurement& row : rows_of(rows, "kernel", to_string(law.kernel))) {
        if (row.precision != to_string(law.precision) || row.where != "memory" || row.active != 1) {
            continue;
        }
        const CpuCall call = call_of(row);
        const double bytes = cpu_bytes(call, law.precision);
        const Measurement* const near = from_cache(rows, row);
        const double set = std::max(2 * host.stated_cache_bytes, 2 * bytes);
        found.rows.push_back(row);
        found.near_s.push_back(near != nullptr ? near->seconds : cpu_seconds(known, call, law.precision));
        found.missing_bytes.push_back(bytes * missing_share(host.cache_bytes.value, set));
    }
    return found;
}

/// Extras that are noise count as none.
void fit_far_byte(const FarRows& far, FittedLaw& law) {
    constexpr double kLeast = 1e-14;
    std::vector<Observation> extras;
    for (std::size_t i = 0; i < far.rows.size(); ++i) {
        const double extra = far.rows[i].seconds - far.near_s[i];
        if (extra > 0) {
            const double share = extra / far.rows[i].seconds;
            extras.push_back({{far.missing_bytes[i]}, extra, share * share});
        }
    }
    if (far.rows.empty()) {
        return;
    }
    const std::string how = "fitted to " + std::to_string(far.rows.size()) + " shapes timed from memory";
    if (extras.empty()) {
        law.far_byte_s = FittedNumber{kLeast, 0, 10 * kLeast, ConstantKind::kFitted, how};
        return;
    }
    const FittedCoefficient coefficient = fit_positive(extras, kBootstraps, kSeed).coefficients.front();
    law.far_byte_s = FittedNumber{std::max(kLeast, coefficient.value), coefficient.low, coefficient.high,
                                  ConstantKind::kFitted, how};
}

void add_quality(const FarRows& far, const FittedLaw& law, FitQuality& quality) {
    for (std::size_t i = 0; i < far.rows.size(); ++i) {
        quality.points.push_back(far.rows[i]);
        quality.predicted.push_back(far.near_s[i] + far.missing_bytes[i] * law.far_byte_s->value);
    }
}

}  // namespace

double missing_share(double cache_bytes, double set_bytes) { return std::max(0.0, 1 - cache_bytes / set_bytes); }

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
    for (const CpuPrecision precision : {CpuPrecision::kFp32, CpuPrecision::kBf16}) {
        FitQuality quality;
        quality.kind = "kernel";
        quality.name = "all_from_memory";
        quality.precision = to_string(precision);
        for (FittedLaw& law : host.laws) {
            if (law.precision == precision) {
                const FarRows far = far_rows(rows, law, host, known);
                fit_far_byte(far, law);
                add_quality(far, law, quality);
            }
        }
        if (!quality.points.empty()) {
            judge(quality);
            calibration.fits.push_back(std::move(quality));
        }
    }
}

}  // namespace auspex
