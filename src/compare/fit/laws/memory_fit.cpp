/// @file Copies over working sets of many sizes; kernels with operands from memory beside the same from the cache.
#include "compare/fit/laws/memory_fit.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "compare/fit/laws/kernel_fit.hpp"
#include "compare/fit/laws/knee_fit.hpp"

namespace auspex {
namespace {

/// Copies of smaller sets stay in a core's own caches.
constexpr double kBeyondOwnCaches = 1.0 / 8;

std::vector<Measurement> copies_alone(const std::vector<Measurement>& rows, double cache_bytes) {
    std::vector<Measurement> copies = timed_host_rows(rows, "copy");
    std::erase_if(
        copies, [&](const Measurement& row) { return row.active != 1 || row.bytes < kBeyondOwnCaches * cache_bytes; });
    return copies;
}

FittedNumber fitted(const KneeNumber& number, const std::string& how) {
    return {number.value, number.interval.low, number.interval.high, ConstantKind::kFitted, how};
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

std::vector<KneeRow> knee_rows(const FarRows& far) {
    std::vector<KneeRow> rows;
    for (std::size_t i = 0; i < far.rows.size(); ++i) {
        rows.push_back({far.moved_bytes[i], far.rows[i].bytes, far.near_s[i], far.rows[i].seconds});
    }
    return rows;
}

bool has_several_sets(const FarRows& far) {
    return std::any_of(far.rows.begin(), far.rows.end(),
                       [&](const Measurement& row) { return row.bytes != far.rows.front().bytes; });
}

void set_far_byte(const Knee& knee, const FarRows& far, FittedLaw& law) {
    constexpr double kLeast = 1e-14;
    law.far_byte_s = fitted(knee.extra_byte_s, "fitted to " + std::to_string(far.rows.size()) + " timings from memory");
    law.far_byte_s->value = std::max(kLeast, law.far_byte_s->value);
}

/// Both, where several sets were gone through: the reach is sought among sizes up to the stated cache's.
void fit_reach(const FarRows& far, const FittedHost& host, FittedLaw& law) {
    constexpr int kSizes = 32;
    const Knee knee = fit_knee(knee_rows(far), reaches_up_to(host.most_cache_bytes, kSizes, 2), NearBytes::kKnown);
    law.reach_bytes = fitted(knee.reach_bytes, "kernels on working sets of several sizes");
    set_far_byte(knee, far, law);
}

double reach_of(const FittedHost& host, const FittedLaw& law) {
    return law.reach_bytes ? law.reach_bytes->value : host.cache_bytes.value;
}

void fit_far_byte(const FarRows& far, const FittedHost& host, FittedLaw& law) {
    if (!far.rows.empty() && !law.far_byte_s) {
        set_far_byte(fit_knee(knee_rows(far), {reach_of(host, law)}, NearBytes::kKnown), far, law);
    }
}

void add_points(const FarRows& far, const FittedHost& host, const FittedLaw& law, FitQuality& quality) {
    for (std::size_t i = 0; i < far.rows.size(); ++i) {
        const double missing = missing_share(reach_of(host, law), far.rows[i].bytes);
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

void fit_cache(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    constexpr int kSizes = 64;
    const std::vector<Measurement> copies = copies_alone(rows, host.most_cache_bytes);
    if (copies.size() < 3) {
        throw InputError("measurements",
                         "found too few copies to tell what comes from memory; expected rows of kind \"host\" named "
                         "\"copy\" with one rank active, of sets from an eighth of " +
                             format_quantity(host.most_cache_bytes, Dimension::kBytes) + " to several times that");
    }
    std::vector<KneeRow> points;
    for (const Measurement& copy : copies) {
        points.push_back({copy.bytes, copy.bytes, 0, copy.seconds});
    }
    Knee knee = fit_knee(points, reaches_up_to(host.most_cache_bytes, kSizes), NearBytes::kFitted);
    host.cache_bytes = fitted(knee.reach_bytes, "copies of working sets of many sizes");
    FittedNumber extra = fitted(knee.extra_byte_s, "");
    constexpr double kLeast = 1e-13;
    if (extra.value < kLeast) {
        extra.value = kLeast;
        calibration.warnings.push_back("copies of up to " + format_quantity(largest_bytes(copies), Dimension::kBytes) +
                                       " take no longer than small ones: all lie in a cache, and how fast memory is "
                                       "cannot be told");
    }
    host.core_memory_bytes_per_s = inverse_of(
        extra, ConstantKind::kFitted, "copies of sets that the last-level cache does not keep over those that it does");
    FitQuality quality = quality_of("sharing", "copies_alone");
    quality.points = copies;
    quality.predicted = std::move(knee.predicted_s);
    add_quality(std::move(quality), calibration);
}

void fit_memory(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    const Host known = host_of(host);
    for (FittedLaw& law : host.laws) {
        const FarRows far = far_rows(rows, law, known);
        if (has_several_sets(far)) {
            fit_reach(far, host, law);
        }
    }
    for (const CpuPrecision precision : {CpuPrecision::kFp32, CpuPrecision::kBf16}) {
        FitQuality quality = quality_of("kernel", "all_from_memory");
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
            add_points(far, host, law, quality);
        }
        add_quality(std::move(quality), calibration);
    }
}

}  // namespace auspex
