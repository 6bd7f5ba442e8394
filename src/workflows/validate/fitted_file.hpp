#pragma once
/// @file The machine or stack file whose constants are fitted to training runs.
#include <vector>

#include "workflows/validate/constants_fit.hpp"

namespace auspex::workflows {

/// The file that is read, with the settings. A stack whose library depends on the machine stays as it is written,
/// unless constants or settings are the library's: then it is that of the cases' machines. Throws InputError where
/// these have several.
[[nodiscard]] JsonDocument file_to_fit(const FitConstantsRequest& request,
                                       const std::vector<evaluate::ValidatedRun>& cases);
/// Those that the cases tell, with the cases as their source, into ConstantsFit::file.
void write_constants(ConstantsFit& fit);

}  // namespace auspex::workflows
