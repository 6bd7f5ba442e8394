#pragma once
/// @file From a tile's peak to MFU, cause by cause.
#include <string>
#include <vector>

#include "models/inputs.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::predict {

/// Causes of a step's length in the order of this list, each with the MFU of a step that had the causes up to it and no
/// others, mean over tiles:
///   peak         T = model FLOP of a tile / its peak
///   sustained    T (peak / rate of large products, by precision) - T
///   ceiling      what transformer shapes reach of that rate, gemm_ceiling
///   stack        what the stack's products reach of that, gemm_efficiency
///   shapes       the rest of useful compute: shapes of products, attention, everything that is no product. Of a
///   machine
///                with a host section all of useful compute beyond T
/// then the losses but useful_compute, in their order, those that are 0 left out. Seconds sum to the step. Requires
/// mfu, losses and step_time_s of the prediction.
[[nodiscard]] std::vector<WaterfallRow> mfu_waterfall(const models::Inputs& inputs, const Prediction& prediction);

}  // namespace auspex::predict
