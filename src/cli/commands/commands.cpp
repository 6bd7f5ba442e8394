/// @file The table of commands: what help, manual pages and completions are made from.
#include "cli/commands/commands.hpp"

#include "base/error.hpp"
#include "cli/commands/command_groups.hpp"
#include "cli/flags/input_flags.hpp"

namespace auspex::cli {
namespace {

std::vector<Command> all_commands() {
    std::vector<Command> all;
    for (const auto& group : {prediction_commands(), exploration_commands(), search_commands(), inspection_commands(), training_commands(),
                              dataset_commands(), exchange_commands(), program_commands()}) {
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

}  // namespace

const std::vector<Command>& commands() {
    static const std::vector<Command> kCommands = all_commands();
    return kCommands;
}

void run_command(const Command& command, const Options& options) {
    try {
        command.run(options);
    } catch (const InputError& error) {
        throw with_command_line_context(options, error);
    }
}

}  // namespace auspex::cli
