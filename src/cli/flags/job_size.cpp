/// @file Nodes to tiles, a global batch to micro-batches.
#include "cli/flags/job_size.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/number_text.hpp"
#include "launch/input_files.hpp"

namespace auspex::cli {
namespace {

/// The multiples of `unit` beside `count`, of at least one unit: "96" or "96 or 192".
std::string nearest_multiples(std::int64_t count, std::int64_t unit) {
    const std::int64_t below = count / unit * unit;
    return (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + unit);
}

}  // namespace

void fill_tiles_of_nodes(Options& options) {
    if (options.nodes.empty()) {
        return;
    }
    if (!options.tiles.empty()) {
        throw InputError("--nodes", "found beside " + options.search.tiles_flag + "; expected one of them");
    }
    if (options.machine.empty()) {
        throw InputError("--nodes",
                         "found without --machine, which says how many tiles a node has; expected both, or --tiles");
    }
    const models::Machine machine =
        models::load_machine(launch::load_document("machine", options.machine, options.overrides));
    if (machine.cpu.cores > 0) {
        throw InputError("--nodes", "found with machine " + machine.name +
                                        ", a computer whose ranks share its cores; expected --tiles, the ranks");
    }
    for (const int nodes : options.nodes) {
        const std::int64_t tiles = std::int64_t{nodes} * machine.node.tiles;
        if (tiles > models::kMaxTiles) {
            throw InputError("--nodes", "found " + std::to_string(nodes) + ", " + std::to_string(tiles) +
                                            " tiles of machine " + machine.name + "; expected at most " +
                                            std::to_string(models::kMaxTiles) + " tiles");
        }
        options.tiles.push_back(static_cast<int>(tiles));
    }
    options.search.tiles_flag = "--nodes";
}

int size_unit(const Options& options, const models::Machine& machine) {
    return options.nodes.empty() ? 1 : machine.node.tiles;
}

std::string size_flag(const Options& options, const models::Machine& machine, const std::vector<int>& tiles) {
    std::string sizes;
    for (const int count : tiles) {
        sizes += (sizes.empty() ? "" : ", ") + std::to_string(count / size_unit(options, machine));
    }
    return options.search.tiles_flag + " " + sizes;
}

void fill_micro_batches(const Options& options, const models::Workload& workload, models::Plan& plan) {
    if (options.global_batch == 0) {
        return;
    }
    if (launch::value_set(options.overrides, "plan", "micro_batches")) {
        throw InputError("--global-batch", "found beside --set plan.micro_batches; expected one of them");
    }
    const int tiles = options.tiles.empty() ? 0 : options.tiles.front();
    if (tiles > 0 && !launch::value_set(options.overrides, "plan", "dp")) {
        plan.dp = 0;  // it follows from the tiles, at each of several sizes
    }
    models::Plan grid = plan;
    grid.micro_batches = plan.pp;  // any that every schedule takes
    grid = resolve_plan(grid, workload, tiles);
    const bool is_interleaved = plan.schedule == models::ScheduleKind::kInterleaved1f1b;
    const std::int64_t data_parallel = tiles_of(grid) / (std::int64_t{grid.pp} * grid.tp * grid.cp);
    const std::int64_t rank_batch = plan.micro_batch_size * data_parallel;
    const std::int64_t unit = rank_batch * (is_interleaved ? plan.pp : 1);
    if (options.global_batch % unit != 0) {
        throw InputError(
            "--global-batch",
            "found " + std::to_string(options.global_batch) + "; expected a multiple of " + std::to_string(unit) +
                " sequences (micro_batch_size " + std::to_string(plan.micro_batch_size) + " x data_parallel " +
                std::to_string(data_parallel) +
                (is_interleaved ? " x pp " + std::to_string(plan.pp) + ", as stages are interleaved" : "") +
                "), such as " + nearest_multiples(options.global_batch, unit));
    }
    plan.micro_batches = static_cast<int>(options.global_batch / rank_batch);
}

}  // namespace auspex::cli
