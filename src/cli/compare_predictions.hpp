#pragma once
/// @file What is predicted of a layout that is compared.
#include <vector>

#include "cli/compare_cases.hpp"
#include "compare/comparison.hpp"

namespace auspex {

/// Fills what `compared` says of the prediction, made with kernels that are `core_speed` times as fast as the machine
/// file says. Throws InputError where the machine cannot have the layout.
void predict_case(const CompareCase& one, double core_speed, ComparedCase& compared);

/// Speed of the cores beside the runs over that of the calibration, from 0.5 to 1.2; 1 where it is not known, or nearer
/// to 1 than 2 % or the probes' own spread.
[[nodiscard]] double core_speed_of(const std::vector<double>& probes_s, double reference_s);

}  // namespace auspex
