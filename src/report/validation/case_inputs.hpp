#pragma once
/// @file Files from which a case of auspex validate can be predicted again.
#include <filesystem>
#include <string>
#include <vector>

#include "report/validation/validation_data.hpp"

namespace auspex::report {

/// Of each case the name of its folder: its id, with "_" for what is neither a letter, digit, ".", "_" nor "-" or would
/// be a leading dot, at most 100 characters, and a number behind it where another case has the same.
[[nodiscard]] std::vector<std::string> case_folders(const std::vector<evaluate::ValidatedRun>& runs);
/// The command that predicts case `i` again from the files of the report's folder; empty: it was not predicted, or the
/// report has no folder.
[[nodiscard]] std::string case_command(const ValidationReport& report, std::size_t i,
                                       const std::vector<std::string>& folders);
/// FOLDER/ID/workload.json, plan.json, command.txt of each predicted case.
void write_case_inputs(const ValidationReport& report, const std::filesystem::path& folder);

}  // namespace auspex::report
