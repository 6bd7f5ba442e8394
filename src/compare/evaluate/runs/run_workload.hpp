#pragma once
/// @file The workload of a published run.
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published/published_run.hpp"

namespace auspex::evaluate {

/// Text of a workload file, and notes of what was taken where the case does not say. Throws InputError, as run_inputs.
[[nodiscard]] std::string workload_text(const PublishedRun& run, const RunNames::Framework& framework,
                                        std::vector<std::string>& notes);

}  // namespace auspex::evaluate
