#pragma once
/// @file Sensitivity of a prediction to each constant, and the interval that follows.
#include <vector>

#include "base/statistics/interval.hpp"
#include "models/inputs.hpp"
#include "sim/predict/options.hpp"

namespace auspex::predict {

/// d ln(step) / d ln(c) of every constant of machine and stack, by replaying the step with c a tenth smaller
/// (larger where smaller is not allowed; smaller changes show how overlaps snap rather than how the constant acts),
/// largest magnitude first, ties in file order; those below 1e-4 are left out. Runs on all cores; the result does not
/// depend on how many.
[[nodiscard]] std::vector<ConstantSensitivity> constant_sensitivities(const models::Inputs& inputs,
                                                                      const PredictOptions& options);

/// The inputs with one constant of machine or stack multiplied; the loader judges the new value. Throws InputError
/// where it is out of the constant's range. What changed the loaded inputs beside their documents is lost for that
/// role.
[[nodiscard]] models::Inputs with_scaled(const models::Inputs& inputs, const Constant& constant, double factor);

/// What is replayed for a step that took this many events: the inputs themselves, or for long pipelines (more than
/// 200,000 events and 2 pp micro-batches) the same with 2 pp micro-batches. The share of the optimizer is then larger
/// than in the step itself.
[[nodiscard]] models::Inputs sensitivity_inputs(const models::Inputs& inputs, int resolved_micro_batches,
                                                std::uint64_t events);

/// About 90 %: step * exp(± 1.645 sqrt(sum (elasticity * uncertainty)^2)), constants taken as independent.
[[nodiscard]] Interval step_interval_s(double step_time_s, const std::vector<ConstantSensitivity>& sensitivities);

}  // namespace auspex::predict
