#pragma once
/// @file Tables of a predicted step. Each is "" where there is nothing to show.
#include <string>

#include "sim/predict/prediction.hpp"

namespace auspex::report {

/// The waterfall from the peak to MFU in numbers.
[[nodiscard]] std::string waterfall_table(const predict::Prediction& prediction);
/// Losses that are not 0, what they are, and the whole step.
[[nodiscard]] std::string losses_table(const predict::Prediction& prediction);
/// Every operation: time in the step, share, times a step, time of one. `process`: "tile" or "rank".
[[nodiscard]] std::string operations_table(const predict::Prediction& prediction, const std::string& process);
/// What fills the fullest tile at its peak.
[[nodiscard]] std::string memory_table(const predict::MemoryReport& memory);
/// How full each kind of links is over the step.
[[nodiscard]] std::string links_table(const predict::Prediction& prediction);
/// Of the unfolded lens: samples, slowest tiles, slow links.
[[nodiscard]] std::string samples_section(const predict::Prediction& prediction);

}  // namespace auspex::report
