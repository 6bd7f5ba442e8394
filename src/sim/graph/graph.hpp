#pragma once
/// @file A step as a graph: what each rank does, and what has to be done before it. Any framework's, not only what a
/// plan gives: Auspex's programs are played by sim/engine.
#include <cstdint>
#include <string>
#include <vector>

#include "schedule/program/communication.hpp"

namespace auspex::graph {

enum class NodeKind : std::uint8_t {
    kNothing,  ///< takes no time
    kCompute,
    kHost,  ///< on the host, beside what the device does
    kSend,
    kReceive,
    kCollective
};

struct GraphNode {
    NodeKind kind = NodeKind::kNothing;
    schedule::CommKind comm = schedule::CommKind::kNone;  ///< of a collective
    bool is_shard = false;     ///< of a collective: its bytes take 1 / stack.shard_efficiency as long between nodes
    std::uint32_t place = 0;   ///< of a collective into RankPlace::groups, of a message into RankPlace::peers
    std::int64_t tag = 0;      ///< of a message: sends and receives of the same ranks and tag meet in order
    double bytes = 0;          ///< of a communication, as schedule/program/communication.hpp counts them
    double seconds = 0;        ///< of kCompute and kHost
    std::uint32_t number = 0;  ///< of a collective: how many of its group stand before it in the program
    std::uint32_t dependencies = 0;
    std::uint32_t child_begin = 0, child_end = 0;  ///< into RankProgram::children: nodes that wait for it
    std::uint32_t name = 0;                        ///< into GraphJob::names
    std::uint64_t id = 0;                          ///< in the file, for messages
    bool operator==(const GraphNode&) const = default;
};

/// What one rank does, or several that do the same with groups and peers of their own.
struct RankProgram {
    std::string file;  ///< for messages
    std::vector<GraphNode> nodes;
    std::vector<std::uint32_t> children;
};

struct RankPlace {
    std::uint32_t program = 0;
    std::vector<std::uint32_t> groups;  ///< into GraphJob::groups
    std::vector<int> peers;             ///< ranks
};

struct GraphJob {
    std::vector<RankProgram> programs;
    std::vector<RankPlace> ranks;
    std::vector<std::vector<int>> groups;  ///< ranks, in the order that rings take
    std::vector<std::string> group_names;  ///< for messages
    std::vector<std::string> names;        ///< of nodes
    [[nodiscard]] const RankProgram& program_of(int rank) const {
        return programs[ranks[static_cast<std::size_t>(rank)].program];
    }
};

/// Sets RankProgram::children, GraphNode::child_begin, child_end, dependencies and number. `before`: by node, the nodes
/// that it waits for. Throws InputError naming the nodes of a circle.
void connect(RankProgram& program, const std::vector<std::vector<std::uint32_t>>& before);

/// Throws InputError for what could never end: a member of a group with other collectives than the first has, or in
/// another order, a rank that takes part in a group that it is not in, a send without its receive, another size of the
/// two. It names files, ids and values.
void check_job(const GraphJob& job);

/// Nodes of all ranks.
[[nodiscard]] std::uint64_t count_nodes(const GraphJob& job);

}  // namespace auspex::graph
