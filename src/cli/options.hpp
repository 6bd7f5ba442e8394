#pragma once
/// @file The command line: which flags a command takes, and what was given.
#include <initializer_list>
#include <string>
#include <vector>

namespace auspex {

enum class Flag { kMachine, kStack, kWorkload, kPlan, kSet, kTiles, kTilesList, kMode, kOut, kTrace, kTokens, kJson };

/// What was given; an empty string, list or zero: not given.
struct Options {
    std::string machine, stack, workload, plan;
    std::vector<std::string> overrides;  ///< ROLE.PATH=VALUE, in order
    std::vector<int> tiles;
    std::string mode, out, trace;
    double tokens = 0;
    bool json = false;
    std::string command_line;  ///< that repeats this run, quoted for a shell
};

struct Command {
    const char* name;
    const char* summary;
    const char* example;
    std::vector<Flag> required, optional;
    void (*run)(const Options& options);
};

/// Strict: throws InputError for an unknown, repeated, missing or stray argument and for a value that is no number.
[[nodiscard]] Options parse_options(const Command& command, const std::vector<std::string>& arguments);

/// What `auspex COMMAND --help` prints.
[[nodiscard]] std::string help_of(const Command& command);

}  // namespace auspex
