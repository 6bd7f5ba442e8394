/// @file What is taken of what is told and what is measured.
#include "compare/fit/cost_models/cache_size.hpp"

#include <algorithm>

#include "models/cpu/cache.hpp"

namespace auspex::fit {

bool are_within_factor_two(double a, double b) {
    constexpr double kContradiction = 2;
    return std::max(a, b) <= kContradiction * std::min(a, b);
}

bool CacheSize::is_contradicted() const {
    return reported_bytes > 0 && measured_bytes > 0 && !are_within_factor_two(reported_bytes, measured_bytes);
}

bool CacheSize::uses_measured() const { return measured_bytes > 0 && (reported_bytes <= 0 || is_contradicted()); }

double CacheSize::bytes(double otherwise) const {
    return uses_measured() ? measured_bytes : reported_bytes > 0 ? reported_bytes : otherwise;
}

double max_bytes(const CacheSize& last_level) {
    const double taken = last_level.bytes(models::kAssumedLastLevelBytes);
    return last_level.uses_measured() ? 2 * taken : taken;
}

}  // namespace auspex::fit
