#pragma once
/// @file How large caches are: what the system tells beside what copies show.
#include <string>
#include <vector>

#include "compare/fit/cost_models/cache_size.hpp"
#include "models/measurement.hpp"

namespace auspex::fit {

/// Ends of levels in timings of copies (rows "host", "sweep"), rising:
///   seconds / bytes = a + sum over levels of d miss_ratio(end, bytes)        (models/cpu/cpu_model.hpp), a, d >= 0
/// for the number of levels, up to four, with the least Bayesian information criterion, ends four times apart or more,
/// each level at least a quarter slower than the one before. None where there are too few rows, or no level ends.
/// From these and rows "host" named "own_cache" and "last_level_cache" (told): a core's own caches end where they are
/// told to, where copies show that, else at the largest end that a core's own can have; the last level is the steepest
/// end beyond, for pages and neighbours make a second one of what is not steep.
[[nodiscard]] CacheSizes cache_sizes(const std::vector<models::Measurement>& rows);

/// A sentence a level where the system's word does not stand: contradicted, missing, or neither told nor found.
[[nodiscard]] std::vector<std::string> notes_of(const CacheSizes& sizes);

}  // namespace auspex::fit
