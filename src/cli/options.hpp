#pragma once
/// @file The command line: which flags a command takes, and what was given.
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "models/plan.hpp"

namespace auspex {

enum class Flag {
    kMachine,
    kStack,
    kWorkload,
    kPlan,
    kSet,
    kTiles,
    kTilesList,
    kPlacements,
    kMode,
    kOut,
    kTrace,
    kTokens,
    kLens,
    kSeed,
    kSamples,
    kSlow,
    kKind,
    kBytes,
    kRanks,
    kAlgorithm,
    kLevels,
    kGroupsOf,
    kStride,
    kAlone,
    kZipf,
    kPlacement,
    kJson
};

/// "contiguous", "random:7", "scheduled:0.3:7": a placement with its seed, and the share of nodes that are free.
struct PlacementWord {
    std::string text;
    PlacementKind kind = PlacementKind::kContiguous;
    std::uint64_t seed = 1;
    double free = 0.5;
};

/// What was given; an empty string, list or zero: not given.
struct Options {
    std::string machine, stack, workload, plan;
    std::vector<std::string> overrides;  ///< ROLE.PATH=VALUE, in order
    std::vector<int> tiles;
    std::vector<PlacementWord> placements;
    std::string mode, out, trace;
    double tokens = 0;
    std::string lens;
    std::optional<std::uint64_t> seed;
    int samples = 0;
    std::vector<std::string> slow;  ///< NAME=FACTOR, in order
    std::string kind, bytes, algorithm, placement;
    int ranks = 0, levels = 0, groups_of = 0, stride = 0;
    double zipf = 0;
    bool alone = false;
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
