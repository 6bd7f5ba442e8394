#pragma once
/// @file Constants of a machine or stack fitted to training runs, and judged by others that are held back.
#include "workflows/validate/constants_fit.hpp"

namespace auspex::workflows {

/// Fits the constants (fit::fit_from_priors, with the file's values and uncertainties as what was known) to the cases
/// of the file that are not held back: of each source, by id, the second, fourth, … are. A constant of which the cases
/// tell less than a twentieth stays as it is, in the file, too. Throws InputError for what validate() refuses, for
/// constants that no case's prediction reads from the file, that are 0 or have no uncertainty, and where fewer than two
/// cases are left to a fit.
[[nodiscard]] ConstantsFit fit_constants(const FitConstantsRequest& request);

}  // namespace auspex::workflows
