#pragma once
/// @file The page of auspex predict --out.
#include "cli/flags/options.hpp"
#include "report/prediction/prediction_page.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::cli {

/// The page's content; takes the result's timeline.
[[nodiscard]] report::PredictionPage prediction_page_of(const models::Inputs& inputs, const Options& options,
                                                        predict::PredictResult result);

/// All constants of machine and stack.
[[nodiscard]] std::vector<Constant> constants_of(const models::Inputs& inputs);

}  // namespace auspex::cli
