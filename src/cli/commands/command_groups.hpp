#pragma once
/// @file The parts of the table of commands, each in the folder of its commands.
#include <vector>

#include "cli/flags/options.hpp"

namespace auspex::cli {

/// What a model takes on a machine, before anything runs.
[[nodiscard]] std::vector<Command> prediction_commands();
/// Searches for plans.
[[nodiscard]] std::vector<Command> search_commands();
/// What predictions are made of, by itself.
[[nodiscard]] std::vector<Command> inspection_commands();
/// What runs on this machine.
[[nodiscard]] std::vector<Command> training_commands();
/// What training reads.
[[nodiscard]] std::vector<Command> dataset_commands();
/// What is looked at while it is changed.
[[nodiscard]] std::vector<Command> exploration_commands();
/// From other projects' formats, and to them.
[[nodiscard]] std::vector<Command> exchange_commands();
/// About this program itself.
[[nodiscard]] std::vector<Command> program_commands();

}  // namespace auspex::cli
