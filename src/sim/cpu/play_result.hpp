#pragma once
/// @file What a play on cores finds.
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "schedule/losses.hpp"

namespace auspex::cpu {

struct CpuPlayResult {
    Picoseconds step = 0;                     ///< when the last rank has ended
    std::vector<Picoseconds> ends;            ///< by rank
    std::vector<schedule::LossTimes> losses;  ///< by rank; each sums to `step`
    std::uint64_t events = 0;
};

}  // namespace auspex::cpu
