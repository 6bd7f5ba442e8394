#pragma once
/// @file What the last-level cache keeps, and what operands cost that it does not.
#include <vector>

#include "compare/fit/cost_models/calibration_result.hpp"
#include "compare/fit/cost_models/fitted.hpp"

namespace auspex::fit {

/// cache_bytes and core_memory_bytes_per_s, as copies of working sets W of many sizes find them: a copy takes
///   t(W) / W = near + extra miss_ratio(cache, W)    (models/cpu/cpu_model.hpp)
/// and the cache's size is that of the best fit (piecewise_linear_fit.hpp), at most what the system says; what other
/// tenants of the processor keep there is not this computer's. One core's memory has 1 / extra, for kernels without
/// timings of their own from memory. Throws InputError where there are too few copies.
void fit_cache(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration);

/// miss_byte_s and reach_bytes of each law: what calls take longer when their operands come out of working sets of
/// several sizes (the rows' `bytes`) than the same calls with operands from the cache: far_byte x bytes moved x
/// miss_ratio( reach, set). A precision that was timed with one set only has the reach of the other. Requires laws
/// and cache_bytes.
void fit_memory(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration);

}  // namespace auspex::fit
