#pragma once
/// @file How large caches are: what the system tells beside what copies show.
#include <string>
#include <vector>

#include "models/measurement.hpp"

namespace auspex {

/// Where one level of memory ends. 0: not told, or not found.
struct CacheSize {
    double told_bytes = 0;
    double measured_bytes = 0;

    /// Told and measured differ by more than a factor of two. Less is no contradiction: copies see a cache that is
    /// shared with neighbours, in pages that lie where they lie, at sizes two an octave.
    [[nodiscard]] bool is_contradicted() const;
    /// Where something is measured, and nothing told or that is contradicted.
    [[nodiscard]] bool is_measured_taken() const;
    /// What is measured where that is taken, else what is told; `otherwise` where nothing is known.
    [[nodiscard]] double bytes(double otherwise) const;
};

struct CacheSizes {
    CacheSize own;  ///< the level before the last: a core's own
    CacheSize last_level;
};

/// What is taken where nothing is told and copies show no end of a level.
inline constexpr double kAssumedOwnCache = 1024.0 * 1024, kAssumedLastLevel = 32 * kAssumedOwnCache;

/// The most that finer fits may find of the last level: what is told or assumed; where what is measured is taken, twice
/// that, for neighbours may have had a part of the cache just then.
[[nodiscard]] double most_bytes(const CacheSize& last_level);

/// Ends of levels in timings of copies (rows "host", "sweep"), rising:
///   seconds / bytes = a + sum over levels of d missing_share(end, bytes)        (models/host.hpp), a, d >= 0
/// for the number of levels, up to four, with the least Bayesian information criterion, ends four times apart or more,
/// each level at least a quarter slower than the one before. Empty where there are too few rows, or no level ends.
[[nodiscard]] std::vector<double> ends_of_levels(const std::vector<Measurement>& sweep);

/// From rows "host" named "own_cache" and "last_level_cache" (told), and "sweep". A core's own caches end where they
/// are told to, where copies show that, else at the largest end that a core's own can have; the last level is the
/// steepest end beyond, for pages and neighbours make a second one of what is not steep.
[[nodiscard]] CacheSizes cache_sizes(const std::vector<Measurement>& rows);

/// A sentence a level where the system's word does not stand: contradicted, missing, or neither told nor found.
[[nodiscard]] std::vector<std::string> notes_of(const CacheSizes& sizes);

}  // namespace auspex
