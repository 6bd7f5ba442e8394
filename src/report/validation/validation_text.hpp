#pragma once
/// @file Predictions of published training runs beside what was measured, as tables.
#include <iosfwd>
#include <vector>

#include "compare/evaluate/runs/run_judgement.hpp"

namespace auspex::report {

/// Every case, the largest errors first; errors by group; and the cases that could not be mapped, each with why.
void print_validation(std::ostream& out, const std::vector<evaluate::ValidatedRun>& runs);

}  // namespace auspex::report
