/// @file In the macros of man(7).
#include "cli/flags/manual_pages.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/flags/flag_texts.hpp"
#include "cli/flags/version.hpp"
#include "launch/installation.hpp"

namespace auspex::cli {
namespace {

/// As it stands, for troff: no hyphens that break, no macros at a line's begin.
std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text) {
        out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    }
    return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

/// "auspex-data-prepare".
std::string page_of(const Command& command) {
    std::string name = std::string("auspex-") + command.name;
    std::replace(name.begin(), name.end(), ' ', '-');
    return name;
}

std::string head(std::string name, const char* summary) {
    std::string title = name;
    std::transform(title.begin(), title.end(), title.begin(),
                   [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    return ".TH " + plain(title) + " 1 \"" + kBuildCommitDate + "\" \"auspex " + AUSPEX_VERSION +
           "\" \"User Commands\"\n.SH NAME\n" + plain(name) + " \\- " + plain(summary) + "\n";
}

std::string flag_with_value(const FlagText& text) {
    return bold(std::string("--") + text.name) + (text.value == nullptr ? "" : " " + italic(text.value));
}

std::string synopsis(const Command& command) {
    std::string out = ".SH SYNOPSIS\n" + bold(std::string("auspex ") + command.name) + "\n";
    for (const CommandFlag& flag : flags_of(command)) {
        const std::string text = flag_with_value(flag.text);
        out += flag.is_required ? text + "\n" : "[" + text + "]\n";
    }
    return out;
}

std::string flags(const Command& command) {
    std::string out = ".SH OPTIONS\n";
    for (const CommandFlag& flag : flags_of(command)) {
        out += ".TP\n" + flag_with_value(flag.text) + "\n" + plain(flag.text.meaning) +
               (flag.is_required ? "; required" : "") + "\n";
    }
    return out + ".TP\n" + bold("--help") + "\nlist the flags\n";
}

/// A line each, as in a terminal.
std::string examples(const char* lines) {
    std::istringstream stream(lines);
    std::string out = ".SH EXAMPLES\n.nf\n";
    for (std::string line; std::getline(stream, line);) {
        out += plain(line.substr(line.find_first_not_of(' '))) + "\n";
    }
    return out + ".fi\n";
}

/// What holds for all of them.
std::string common_end() {
    return ".SH \"EXIT STATUS\"\n0: done. 1: failed, or a check does not hold. 2: bad input, which one line on "
           "standard error names.\n.SH ENVIRONMENT\n.TP\n" +
           bold(launch::kDataVariable) +
           "\na folder with machines/, stacks/, workloads/ and plans/. Names are looked for there first, then in the "
           "working directory. Without it they are looked for in the working directory first, then among the data that "
           "came with the program.\n";
}

std::string page_of_program(const std::vector<Command>& commands) {
    std::string out = head("auspex", "predict the training step of a large language model on a large machine");
    out += ".SH SYNOPSIS\n" + bold("auspex") + " " + italic("COMMAND") + " " + italic("FLAGS") + "\n.SH COMMANDS\n";
    for (const Command& command : commands) {
        out += ".TP\n" + bold(command.name) + "\n" + plain(command.summary) + "\n";
    }
    out += examples(commands.at(1).example) + common_end() + ".SH \"SEE ALSO\"\n";
    for (const Command& command : commands) {
        out += ".BR " + plain(page_of(command)) + " (1)" + (&command == &commands.back() ? "\n" : ",\n");
    }
    return out;
}

std::string page_of_command(const Command& command) {
    return head(page_of(command), command.summary) + synopsis(command) + flags(command) + examples(command.example) +
           common_end() + ".SH \"SEE ALSO\"\n.BR auspex (1)\n";
}

}  // namespace

std::vector<ManualPage> manual_pages(const std::vector<Command>& commands) {
    std::vector<ManualPage> pages{{"auspex.1", page_of_program(commands)}};
    for (const Command& command : commands) {
        pages.push_back({page_of(command) + ".1", page_of_command(command)});
    }
    return pages;
}

}  // namespace auspex::cli
