#pragma once
/// @file From a tile's peak to MFU, in words, and at several sizes side by side.
#include <string>
#include <vector>

#include "report/scaling/scale_points.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::report {

/// A row of the waterfall in words: "model FLOP at 205 TFLOP/s", "rate of large GEMMs (tile.gemm_bf16)", …; a loss by
/// its name in files, "exposed_dp".
[[nodiscard]] std::string waterfall_words(const std::string& cause, const predict::Prediction& prediction);

/// A cause at every size.
struct WaterfallBySize {
    std::string cause;
    std::vector<double> share;  ///< of the step, by point; of a column they sum to 1. Of the first cause it is MFU
};
/// Every cause that any size has, in the order of mfu_waterfall.
[[nodiscard]] std::vector<WaterfallBySize> waterfall_by_size(const std::vector<ScalePoint>& points);

/// The same in percent, a column a size, and how much of the step each cause takes more at the last size than at the
/// first; "" where there is no waterfall.
[[nodiscard]] std::string waterfalls_table(const std::vector<ScalePoint>& points);

}  // namespace auspex::report
