#pragma once
/// @file How large a cache is said to be, and found to be.

namespace auspex::fit {

/// Not more than a factor of two apart.
[[nodiscard]] bool are_within_factor_two(double bytes, double other_bytes);

/// Where one level of memory ends. 0: not told, or not found.
struct CacheSize {
    double reported_bytes = 0;
    double measured_bytes = 0;

    /// Told and measured differ by more than a factor of two. Less is no contradiction: copies see a cache that is
    /// shared with neighbours, in pages that lie where they lie, at sizes two an octave.
    [[nodiscard]] bool is_contradicted() const;
    /// Where something is measured, and nothing told or that is contradicted.
    [[nodiscard]] bool uses_measured() const;
    /// What is measured where that is taken, else what is told; `otherwise` where nothing is known.
    [[nodiscard]] double bytes(double otherwise) const;
};

struct CacheSizes {
    CacheSize own;  ///< the level before the last: a core's own
    CacheSize last_level;
};

/// The most that finer fits may find of the last level: what is told or assumed; where what is measured is taken, twice
/// that, for neighbours may have had a part of the cache just then.
[[nodiscard]] double max_bytes(const CacheSize& last_level);

}  // namespace auspex::fit
