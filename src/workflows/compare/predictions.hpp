#pragma once
/// @file What is predicted of a layout that is compared.
#include <vector>

#include "compare/evaluate/comparison.hpp"
#include "models/cpu/cpu_mechanisms.hpp"
#include "workflows/compare/cases.hpp"

namespace auspex::workflows {

/// Fills what `compared` says of the prediction, made for cores that are `core_speed` times as fast as the machine file
/// says (at_speed). Throws InputError where the machine cannot have the layout.
void predict_case(const CompareCase& one, double core_speed, evaluate::ComparedCase& compared);

/// The upper end of its interval becomes that of a step among so many processes of `others`, by core, if that is later:
/// the interval's upper half is as wide as it was, relatively. How often a rank meets another process's time slice is a
/// matter of luck, so that the prediction itself stays that of cores of its own. Requires predict_case().
void widen_for_background(const CompareCase& one, const std::vector<int>& others, evaluate::ComparedCase& compared);

/// What each case is predicted to take without `mechanism`, at the core speed of its prediction.
[[nodiscard]] std::vector<double> steps_without(const models::CpuMechanism& mechanism,
                                                const std::vector<const CompareCase*>& cases,
                                                const std::vector<evaluate::ComparedCase>& compared);

}  // namespace auspex::workflows
