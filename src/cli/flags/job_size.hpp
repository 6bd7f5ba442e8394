#pragma once
/// @file --nodes and --global-batch: what the size of a job follows from, where it is not given as tiles and plan.
#include <string>
#include <vector>

#include "cli/flags/options.hpp"
#include "models/inputs.hpp"

namespace auspex::cli {

/// With --nodes: tiles = nodes x tiles of a node of the machine. Throws InputError for --tiles beside it, for a machine
/// of CPU cores, whose ranks are no part of the machine, and for more tiles than kMaxTiles.
void fill_tiles_of_nodes(Options& options);

/// With --global-batch: micro_batches = global batch / (micro_batch_size x data_parallel), data_parallel at the first
/// of
/// --tiles (without: of the plan's dp). Throws InputError where that is no whole number, naming the nearest batches
/// that work, and for --set plan.micro_batches beside it.
void fill_micro_batches(const Options& options, const models::Workload& workload, models::Plan& plan);

/// Tiles of what the command line counts a job's size in: those of a node with --nodes, else 1.
[[nodiscard]] int size_unit(const Options& options, const models::Machine& machine);
/// Sizes as it counts them: "--nodes 4, 8" or "--tiles 48, 96".
[[nodiscard]] std::string size_flag(const Options& options, const models::Machine& machine,
                                    const std::vector<int>& tiles);

}  // namespace auspex::cli
