#pragma once
/// @file From a tile's peak to MFU as a picture.
#include <string>

#include "report/parts/picture.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::report {

/// Inline SVG: a bar a cause, each from where the one above it ends, with its seconds and the MFU up to there. Requires
/// rows.
[[nodiscard]] std::string waterfall_chart(const predict::Prediction& prediction, double width = kPagePicture);

}  // namespace auspex::report
