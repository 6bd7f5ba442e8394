#pragma once
/// @file From names on the command line to loaded inputs: where files are looked for, and `--set`.
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/options.hpp"
#include "report/scaling/scaling_report.hpp"
#include "sim/predict/predict.hpp"

namespace auspex {

/// The file that a name means: itself if it has a "/" or ends in ".json"; else FOLDER/NAME.json in the folder that
/// AUSPEX_DATA names, in the working directory, or, where AUSPEX_DATA is not set, among the data that came with the
/// program; else a file of that very name. `role` is "machine", "stack", "workload" or "plan", whose folder is
/// "machines", …; "layouts" (plans/layouts); or "measurements" (machines/measurements, ".csv"). Throws InputError that
/// lists what is there.
[[nodiscard]] std::string find_input(const std::string& role, const std::string& name);
/// The names that find_input knows for a role. Throws InputError for an unknown role.
[[nodiscard]] std::set<std::string> input_names(const std::string& role);

/// Loads a role's document and applies the overrides of that role. A routing trace that an override names is relative
/// to the working directory, one that the plan's file names to that file's folder.
[[nodiscard]] JsonDocument load_document(const std::string& role, const std::string& name,
                                         const std::vector<std::string>& overrides);
/// The overrides as sentences show them: "plan.pp = 4".
[[nodiscard]] std::vector<std::string> overrides_in_words(const Options& options);
/// Throws InputError unless every override reads ROLE.PATH=VALUE with one of the roles.
void require_roles(const std::vector<std::string>& overrides, const std::vector<std::string>& roles);

/// The error, with the --set of the file that it blames named beside it, and with --tiles where those decide.
[[nodiscard]] InputError blame_command_line(const Options& options, const InputError& error);

/// With one --tiles and no `--set plan.dp` the tiles rule: the file's dp is dropped and follows from them.
void forget_dp(const Options& options, Plan& plan);
/// All four inputs, overridden, with forget_dp.
[[nodiscard]] Inputs load_all(const Options& options);
[[nodiscard]] std::vector<InputFile> files_of(const Inputs& inputs);

}  // namespace auspex
