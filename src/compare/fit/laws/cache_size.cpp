/// @file What is taken of what is told and what is measured.
#include "compare/fit/laws/cache_size.hpp"

#include <algorithm>

namespace auspex {

bool agree(double a, double b) {
    constexpr double kContradiction = 2;
    return std::max(a, b) <= kContradiction * std::min(a, b);
}

bool CacheSize::is_contradicted() const {
    return told_bytes > 0 && measured_bytes > 0 && !agree(told_bytes, measured_bytes);
}

bool CacheSize::is_measured_taken() const { return measured_bytes > 0 && (told_bytes <= 0 || is_contradicted()); }

double CacheSize::bytes(double otherwise) const {
    return is_measured_taken() ? measured_bytes : told_bytes > 0 ? told_bytes : otherwise;
}

double most_bytes(const CacheSize& last_level) {
    const double taken = last_level.bytes(kAssumedLastLevel);
    return last_level.is_measured_taken() ? 2 * taken : taken;
}

}  // namespace auspex
