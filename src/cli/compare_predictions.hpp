#pragma once
/// @file What is predicted of a layout that is compared.
#include "cli/compare_cases.hpp"
#include "compare/comparison.hpp"

namespace auspex {

/// Fills what `compared` says of the prediction, made with kernels that are `core_speed` times as fast as the machine
/// file says. Throws InputError where the machine cannot have the layout.
void predict_case(const CompareCase& one, double core_speed, ComparedCase& compared);

}  // namespace auspex
