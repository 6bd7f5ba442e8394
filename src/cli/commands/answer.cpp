/// @file Commands with their answer as a text.
#include "cli/commands/answer.hpp"

#include <algorithm>
#include <sstream>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/command_line.hpp"
#include "cli/flags/input_flags.hpp"

namespace auspex::cli {

std::string answer_of(const std::string& command, const std::vector<std::string>& flags) {
    const auto found = std::ranges::find(commands(), command, [](const Command& one) { return std::string(one.name); });
    if (found == commands().end()) {
        throw InputError("auspex", "found the command \"" + command + "\"; expected one that has --json");
    }
    Options options = parse_options(*found, flags);
    std::ostringstream text;
    options.json = true;
    options.answers = &text;
    run_command(*found, options);
    return std::move(text).str();
}

}  // namespace auspex::cli
