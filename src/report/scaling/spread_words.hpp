#pragma once
/// @file How far published runs were from their predictions, in words.
#include <string>

#include "sim/predict/prediction.hpp"

namespace auspex::report {

/// Which runs a spread is of: "stack and machine", "stack", "machine", "all".
[[nodiscard]] const char* spread_scope(const models::PublishedSpread& spread);
/// "58 published runs with stack torchtitan on aurora", or of what is nearest, and that there are too few of these.
[[nodiscard]] std::string spread_runs(const models::PublishedSpread& spread);
/// "constants ±9.4 %, unexplained spread of 58 published runs … ±19.3 %": the upper side, of 90 %. Requires a spread.
[[nodiscard]] std::string spread_words(const predict::Prediction& prediction);

}  // namespace auspex::report
