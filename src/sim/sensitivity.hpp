#pragma once
/// @file How much a prediction leans on each constant, and the interval that follows.
#include <array>
#include <vector>

#include "sim/predict.hpp"

namespace auspex {

/// d ln(step) / d ln(c) of every constant of machine and stack, by replaying the step with c two percent smaller (larger where smaller is not
/// allowed), largest magnitude first, ties in file order; those below 1e-4 are left out. Runs on all cores; the result does not depend on how many.
[[nodiscard]] std::vector<ConstantLean> lean_on_constants(const Inputs& inputs, const PredictOptions& options, Picoseconds step);

/// About 90 %: step * exp(± 1.645 sqrt(sum (elasticity * uncertainty)^2)), constants taken as independent.
[[nodiscard]] std::array<double, 2> step_interval_s(double step_time_s, const std::vector<ConstantLean>& leans);

}  // namespace auspex
