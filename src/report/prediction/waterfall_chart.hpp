#pragma once
/// @file From a tile's peak to MFU, in words and as a picture.
#include <string>

#include "report/parts/picture.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::report {

/// A row of the waterfall in words: "model FLOP at 205 TFLOP/s", "rate of large GEMMs (tile.gemm_bf16)", …; a loss by
/// its name in files, "exposed_dp".
[[nodiscard]] std::string waterfall_words(const std::string& cause, const predict::Prediction& prediction);

/// Inline SVG: a bar a cause, each from where the one above it ends, with its seconds and the MFU up to there. Requires
/// rows.
[[nodiscard]] std::string waterfall_chart(const predict::Prediction& prediction, double width = kPagePicture);

}  // namespace auspex::report
