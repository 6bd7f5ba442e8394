#pragma once
/// @file The parts that a step's time is divided into.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace auspex::schedule {

/// The parts that a step's time is divided into, as a mean over tiles; they sum to the step exactly.
enum class Loss : std::uint8_t {
    kUsefulCompute,
    kRecompute,
    kBubble,
    kExposedTp,
    kExposedEp,
    kExposedDp,
    kExposedPp,
    kExposedCp,
    kExposedHost,
    kOptimizer,
    kImbalance,
    kJitter,
    kWaiting,
    kHostBound
};
inline constexpr std::size_t kLossCount = 14;
/// "useful_compute", "recompute", "bubble", "exposed_tp", … in the order of the enum.
[[nodiscard]] const char* to_string(Loss loss);
/// One sentence for a reader who has never seen the tool.
[[nodiscard]] const char* meaning_of(Loss loss);

/// Time by loss.
using LossTimes = std::array<Picoseconds, kLossCount>;

/// The mean over actors in whole picoseconds; what the divisions leave goes, one each, to the first losses that have a
/// fraction, so that the mean sums to `step` as each actor's losses do.
[[nodiscard]] LossTimes mean_losses(const std::vector<LossTimes>& by_actor, Picoseconds step);

}  // namespace auspex::schedule
