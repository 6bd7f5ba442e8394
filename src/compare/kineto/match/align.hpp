#pragma once
/// @file Two long sequences, one nearly like the other, laid side by side.
#include <cstdint>
#include <vector>

namespace auspex::kineto {

/// Items of both are of few classes; `scores[m * expected_classes + e]` says how well a measured item of class m fits
/// an expected one of class e: 0 not at all.
struct AlignProblem {
    std::vector<std::uint32_t> measured, expected;  ///< classes
    std::vector<std::uint8_t> takes_many;  ///< by expected item: any number of measured ones in succession, else one
    std::vector<std::int16_t> scores;
    std::uint32_t expected_classes = 0;
};

/// For each measured item the expected one; kNone (trace.hpp): none. Orders are kept: of two measured items the later
/// never gets the earlier expected one. The sum of scores, less a sixteenth for each expected item that is passed over
/// and half of its best score for each measured one, is the largest there is within windows that slide over both: two
/// thousand expected items at a time, of which the first half is settled. Time grows with the sum of both lengths.
[[nodiscard]] std::vector<std::uint32_t> align(const AlignProblem& problem);

}  // namespace auspex::kineto
