#pragma once
/// @file What the last-level cache keeps, and what operands cost that it does not.
#include <vector>

#include "compare/fitted.hpp"

namespace auspex {

/// Share of a working set that is passed over again and again and does not come from the last-level cache:
/// max(0, 1 - cache / set).
[[nodiscard]] double missing_share(double cache_bytes, double set_bytes);

/// cache_bytes, as copies of working sets of many sizes find it: a copy takes t(W) / W = near + extra x missing_share,
/// and the cache's size is that of the best fit, at most what the system says. What other tenants of the processor keep
/// there is not this computer's. Left as it is where there are no copies.
void fit_cache(const std::vector<Measurement>& rows, FittedHost& host);

/// far_byte_s of each law: what calls with operands from memory take longer than the same calls with operands from the
/// cache, over the bytes that they move, over the share that missed; and core_memory_bytes_per_s: the same of copies,
/// for kernels without such rows. Requires laws and cache_bytes.
void fit_memory(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration);

}  // namespace auspex
