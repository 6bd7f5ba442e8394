#pragma once
/// @file Cases of published runs, from their files to a prediction of each.
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "report/parts/input_file.hpp"
#include "workflows/validate/run_predictor.hpp"

namespace auspex::workflows {

/// machines/published/runs.json of the data folders, which is added to `files`.
[[nodiscard]] evaluate::RunNames load_names(std::vector<report::InputFile>& files);

/// Every case of files, and of all *.json of folders by name; each file is added to `files`. Throws InputError where a
/// file is no file of cases, and where there is no case.
[[nodiscard]] std::vector<evaluate::PublishedRun> load_cases(const std::vector<std::string>& places,
                                                             std::vector<report::InputFile>& files);

/// Each predicted, or with why not, in their order; with a line of progress.
[[nodiscard]] std::vector<evaluate::ValidatedRun> predicted(const RunPredictor& predictor,
                                                            std::vector<evaluate::PublishedRun> runs);

}  // namespace auspex::workflows
