#pragma once
/// @file Where a rank's step goes, measured and predicted, under the same names.
#include <array>
#include <cstdint>

#include "compare/kineto/match/match_step.hpp"
#include "schedule/losses.hpp"

namespace auspex::kineto {

/// Every picosecond of a step has one of them.
enum class Spent : std::uint8_t {
    kUseful,  ///< kernels of forward and backward passes
    kRecompute,
    kOptimizer,
    kLaunch,  ///< the device is idle although the next kernel was launched in time
    kHost,    ///< the device is idle until the host launches the next kernel
    kExposedTp,
    kExposedEp,
    kExposedDp,
    kExposedPp,
    kExposedCp,
    kExposedHost,
    kBubble,             ///< waiting for another stage's message
    kWaiting,            ///< what all ranks do together, uneven routing, slower ranks
    kOtherKernels,       ///< measured: kernels that match no operation
    kOtherCommunication  ///< measured: collectives that match none, where nothing hides them
};
inline constexpr std::size_t kSpentCount = 15;
[[nodiscard]] const char* to_string(Spent spent);
/// One sentence.
[[nodiscard]] const char* meaning_of(Spent spent);

/// The name that a predicted loss goes by beside a measured step; what has none is kWaiting.
[[nodiscard]] Spent spent_of(schedule::Loss loss);

using SpentTimes = std::array<Picoseconds, kSpentCount>;

/// Compute counts before communication that runs beside it, and of several communications the one that began first. A
/// message counts as transfer for as long as the shortest of its size took, at its end; before that it waits
/// (kBubble). An idle device waits for the host until the next kernel has been launched, then for the launch; without
/// launches in the trace gaps of up to 10 us count as launches, longer ones as the host's. Sums to `step.length`.
[[nodiscard]] SpentTimes measured_times(const MeasuredStep& step, const PredictedRank& rank, const StepMatch& match,
                                        const schedule::Program& program);

/// The losses of the rank's role (on CPU cores: the mean over ranks), launches and host work told apart. Sums to
/// `step.step`.
[[nodiscard]] SpentTimes predicted_times(const predict::SimulatedStep& step, const PredictedRank& rank);

}  // namespace auspex::kineto
