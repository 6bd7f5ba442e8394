/// @file Rows of the table of commands: searches for plans.
#include "cli/commands/command_groups.hpp"
#include "cli/commands/commands.hpp"
#include "cli/plans/plan_command.hpp"

namespace auspex::cli {

std::vector<Command> search_commands() { return {plan_command(run_plan)}; }

}  // namespace auspex::cli
