/// @file auspex: picks the sub-command and turns what is thrown into one line and an exit code.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iomanip>
#include <iostream>
#include <optional>

#include "base/error.hpp"
#include "base/text/closest_word.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/command_line.hpp"
#include "cli/heap.hpp"
#include "cli/terminal/terminal_ink.hpp"
#include "launch/messages.hpp"
#include "launch/train/child_run.hpp"

namespace auspex::cli {

namespace {

/// "data": the first word of commands that have two.
bool is_group(const std::string& word) {
    return std::any_of(commands().begin(), commands().end(),
                       [&](const Command& command) { return std::string_view(command.name).starts_with(word + " "); });
}

void print_commands(const std::string& head) {
    std::size_t width = 0;
    for (const Command& command : commands()) {
        width = std::max(width, std::string_view(command.name).size());
    }
    for (const Command& command : commands()) {
        if (std::string_view(command.name).starts_with(head)) {
            std::cout << "  " << std::left << std::setw(static_cast<int>(width) + 2) << command.name << command.summary
                      << "\n";
        }
    }
}

void print_help_of_group(const std::string& word) {
    std::cout << "usage: auspex " << word << " COMMAND FLAGS\n\n";
    print_commands(word + " ");
    std::cout << "\nauspex " << word << " COMMAND --help lists the command's flags.\n";
}

void print_help() {
    std::cout
        << "auspex " << AUSPEX_VERSION
        << ": predicts the training step of a large language model on a supercomputer that nobody has to book.\n\n"
           "usage: auspex COMMAND FLAGS\n\n";
    print_commands("");
    std::cout
        << "\nauspex COMMAND --help lists the command's flags; auspex --version says what this is.\n\nExample:\n  "
        << commands().at(1).example << "\n";
}

bool asks_for_help(const std::string& argument) { return argument == "--help" || argument == "-h"; }

/// How many arguments at the front name the command: its words, or 0.
std::size_t words_that_name(const Command& command, const std::vector<std::string>& arguments) {
    const std::string_view name = command.name;
    const std::size_t space = name.find(' ');
    if (arguments.front() != name.substr(0, space)) {
        return 0;
    }
    if (space == std::string_view::npos) {
        return 1;
    }
    return arguments.size() > 1 && arguments[1] == name.substr(space + 1) ? 2 : 0;
}

void dispatch(std::vector<std::string> arguments) {
    if (arguments.empty() || asks_for_help(arguments.front()) || arguments.front() == "help") {
        print_help();
        return;
    }
    if (arguments.front() == "--version") {
        arguments.front() = "version";
    }
    const bool names_group = is_group(arguments.front());
    if (names_group && arguments.size() > 1 && asks_for_help(arguments[1])) {
        print_help_of_group(arguments.front());
        return;
    }
    std::string names;
    for (const Command& command : commands()) {
        if (const std::size_t words = words_that_name(command, arguments); words > 0) {
            const std::vector<std::string> flags(arguments.begin() + static_cast<std::ptrdiff_t>(words),
                                                 arguments.end());
            if (std::any_of(flags.begin(), flags.end(), asks_for_help)) {
                std::cout << help_of(command);
            } else {
                run_command(command, parse_options(command, flags));
            }
            return;
        }
        if (!names_group || std::string_view(command.name).starts_with(arguments.front() + " ")) {
            names += (names.empty() ? "" : ", ") + std::string(command.name);
        }
    }
    const std::string second = names_group && arguments.size() > 1 ? " " + arguments[1] : "";
    std::vector<std::string> all;
    for (const Command& command : commands()) {
        all.emplace_back(command.name);
    }
    throw InputError("auspex", "found the command \"" + arguments.front() + second + "\"; expected one of " + names +
                                   did_you_mean(arguments.front() + second, all));
}

int run_auspex(int argc, char** argv) {
    std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit of a file's size fails like any other
    try {
        dispatch({argv + std::min(argc, 1), argv + argc});
        std::cout.flush();
        if (!std::cout) {
            std::cerr << launch::message_line(launch::kFailurePrefix, "the output could not be written") << "\n";
            return launch::kFailed;
        }
        return 0;
    } catch (const InputError& error) {
        std::cerr << launch::message_line(launch::kErrorPrefix, error.what()) << "\n";
        return launch::kBadInput;
    } catch (const launch::Interrupted& end) {
        std::cerr << launch::message_line(launch::kFailurePrefix, end.what()) << "\n";
        return launch::kSignalled + end.signal();
    } catch (const std::exception& error) {
        std::cerr << launch::message_line(launch::kFailurePrefix, error.what()) << "\n";
        return launch::kFailed;
    }
}

}  // namespace
}  // namespace auspex::cli

int main(int argc, char** argv) {
    auspex::cli::keep_heap();
    std::optional<auspex::cli::TerminalInk> output, errors;
    if (auspex::cli::has_color(STDOUT_FILENO)) {
        output.emplace(std::cout);
    }
    if (auspex::cli::has_color(STDERR_FILENO)) {
        errors.emplace(std::cerr);
    }
    return auspex::cli::run_auspex(argc, argv);
}
