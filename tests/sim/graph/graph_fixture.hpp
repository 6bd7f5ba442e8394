#pragma once
/// @file Small graphs by hand, on a machine whose numbers are round.
#include <string>
#include <vector>

#include "../network/network_fixture.hpp"
#include "sim/graph/graph_player.hpp"
#include "sim/network/collective/collective_run.hpp"

namespace auspex::testing_graph {

using graph::GraphJob;
using graph::GraphNode;
using graph::NodeKind;

inline GraphNode compute(double seconds) {
    GraphNode node;
    node.kind = NodeKind::kCompute;
    node.seconds = seconds;
    return node;
}
inline GraphNode collective(schedule::CommKind comm, std::uint32_t place, double bytes) {
    GraphNode node;
    node.kind = NodeKind::kCollective;
    node.comm = comm;
    node.place = place;
    node.bytes = bytes;
    return node;
}
inline GraphNode message(NodeKind kind, std::uint32_t place, double bytes, std::int64_t tag = 0) {
    GraphNode node;
    node.kind = kind;
    node.place = place;
    node.bytes = bytes;
    node.tag = tag;
    return node;
}

using Before = std::vector<std::vector<std::uint32_t>>;

/// A rank with a program of its own; ids count from 1.
inline void add_rank(GraphJob& job, std::vector<GraphNode> nodes, const Before& before,
                     std::vector<std::uint32_t> groups = {}, std::vector<int> peers = {}) {
    graph::RankProgram program;
    program.file = "rank " + std::to_string(job.ranks.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].id = i + 1;
    }
    program.nodes = std::move(nodes);
    connect(program, before);
    job.ranks.push_back({static_cast<std::uint32_t>(job.programs.size()), std::move(groups), std::move(peers)});
    job.programs.push_back(std::move(program));
    job.names = {""};
}
inline void add_group(GraphJob& job, std::vector<int> ranks) {
    job.group_names.push_back(std::to_string(job.groups.size() + 1));
    job.groups.push_back(std::move(ranks));
}

inline graph::GraphResult play_on(const models::Machine& machine, const models::Stack& stack, const GraphJob& job,
                                  const graph::PlayOptions& options = {}) {
    check_job(job);
    network::CollectiveJob tiles;
    tiles.ranks = static_cast<int>(job.ranks.size());
    const models::Layout layout = layout_of_job(tiles, machine);
    graph::GraphCosts costs(job, machine, stack, layout);
    return play(job, costs, machine, options);
}

}  // namespace auspex::testing_graph
