#pragma once
/// @file Where the levels of memory end, as far as copies of more and more bytes tell: what a system says of its caches
/// can be missing, or another computer's.
#include <functional>

#include "models/measurement.hpp"

namespace auspex::microbench {

/// Kind "host", name "sweep": processor seconds of one pass over a working set of `bytes`, one half copied into the
/// other, on this thread alone: the fastest of all passes, for whatever else runs makes them slower only. Sizes from
/// 16 KiB to 512 MiB, two an octave; none beyond `most_bytes`. `report` gets each measurement for which `skip` is
/// false. Takes about two seconds.
void run_cache_sweep(double most_bytes, const std::function<bool(const models::Measurement&)>& skip,
                     const std::function<void(const models::Measurement&)>& report);

}  // namespace auspex::microbench
