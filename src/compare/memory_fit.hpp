#pragma once
/// @file What the last-level cache keeps, and what operands cost that it does not.
#include <vector>

#include "compare/fitted.hpp"

namespace auspex {

/// cache_bytes, as copies of working sets W of many sizes find it: a copy takes t(W) / W = near + extra x
/// missing_share( cache, W) (models/host.hpp), and the cache's size is that of the best fit, at most what the system
/// says. What other tenants of the processor keep there is not this computer's. Left as it is where there are too few
/// copies.
void fit_cache(const std::vector<Measurement>& rows, FittedHost& host);

/// far_byte_s and reach_bytes of each law: what calls take longer when their operands come out of working sets of
/// several sizes (the rows' `bytes`) than the same calls with operands from the cache: far_byte x bytes moved x
/// missing_share( reach, set). A precision that was timed with one set only has the reach of the other.
/// core_memory_bytes_per_s: the extra of copies, for kernels without such rows. Requires laws and cache_bytes.
void fit_memory(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration);

}  // namespace auspex
