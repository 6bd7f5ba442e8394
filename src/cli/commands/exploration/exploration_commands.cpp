/// @file Rows of the table of commands: what is looked at while it is changed.
#include "cli/commands/command_groups.hpp"
#include "cli/commands/commands.hpp"

namespace auspex::cli {

std::vector<Command> exploration_commands() {
    return {
        {"explore",
         "serve a page on this computer: choose model, machine, stack and plan, move every constant, and watch the "
         "step",
         "auspex explore --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles "
         "12288\n"
         "  auspex explore --port 8417 --set 'machine.tile.gemm_bf16=250 TF/s'",
         {},
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan, Flag::kTiles, Flag::kNodes, Flag::kTokens,
          Flag::kSet, Flag::kPort, Flag::kOpen, Flag::kJson},
         run_explore,
         {{Flag::kMachine, "what the page begins with; default aurora"},
          {Flag::kStack, "what the page begins with; default optimus"},
          {Flag::kWorkload, "what the page begins with; default mula-220b-a10b"},
          {Flag::kPlan, "what the page begins with; default mula-220b-a10b"},
          {Flag::kTiles, "tiles (accelerators) that the page begins with; without it what the plan's dp gives"},
          {Flag::kNodes, "instead of --tiles: whole nodes of --machine"},
          {Flag::kTokens, "of the whole run that the page begins with, such as 4T (default 1T)"},
          {Flag::kSet, "override a field to begin with; ROLE is machine, stack, workload or plan; may be repeated"},
          {Flag::kJson, "print address, port and token as JSON, in one line"}}},
    };
}

}  // namespace auspex::cli
