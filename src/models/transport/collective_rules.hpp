#pragma once
/// @file What a stack says of collectives: which algorithm a library takes, which way inside a node, and what its
/// messages cost.
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/constant.hpp"
#include "base/json_forward.hpp"

namespace auspex::models {

enum class CollectiveAlgorithm {
    kAuto,
    kRing,
    kRecursiveDoubling,
    kRabenseifner,
    kDirect,
    kPairwise,
    kBruck,
    kDoubleBinaryTree,
    kMultiRing
};
/// "auto", "ring", "recursive-doubling", "rabenseifner", "direct", "pairwise", "bruck", "double-binary-tree",
/// "multi-ring".
[[nodiscard]] const char* to_string(CollectiveAlgorithm algorithm);

/// The collectives that have rules, in the order of MessageRule::of.
enum class Collective { kAllReduce, kReduceScatter, kAllGather, kAllToAll, kBroadcast };
inline constexpr std::size_t kCollectiveCount = 5;

inline constexpr int kAnyCount = std::numeric_limits<int>::max();
inline constexpr double kAnySize = std::numeric_limits<double>::infinity();

/// The rule "for what is within all these limits use algorithm" for one kind of collective; the last rule has none.
/// levels 1: the algorithm runs over the whole group; 2: every rank exchanges with every other of its node, and the
/// algorithm runs between nodes among ranks of the same index; 3: among the nodes of a dragonfly group (leaf, unit)
/// first, and the algorithm runs between groups; 0 (only with kAuto): the fastest of all. kMultiRing has one level.
struct AlgorithmRule {
    double max_bytes = 0;
    CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;
    int levels = 0;
    double max_bytes_per_rank = kAnySize;  ///< buffer over ranks
    int max_nodes = kAnyCount;             ///< of the group
    int max_ranks = kAnyCount;             ///< of the group
    bool power_of_two = false;             ///< only groups of so many ranks
};

/// Reads the rules of one kind. Throws InputError, also for a rule that none before it leaves anything to.
[[nodiscard]] std::vector<AlgorithmRule> read_rules(const JsonValue& collectives, std::string_view key,
                                                    std::initializer_list<std::string_view> algorithms);

/// What the software adds to messages within all these limits, where it is not what it adds to others.
struct MessageRule {
    std::array<bool, kCollectiveCount> of{true, true, true, true, true};  ///< [Collective]
    bool of_others = true;        ///< sends and barriers, too: no collective is named
    int max_nodes = kAnyCount;    ///< of the group
    double max_bytes = kAnySize;  ///< of the message
    std::optional<double> scale_up_message_s{}, scale_out_message_s{};  ///< in place of the transport's
    double bytes_per_s = kAnySize;  ///< of messages between nodes: bytes pass the software at this rate, and the wires
                                    ///< before or after
    /// Pieces of a message are passed on before the rest has come: what it costs runs beside the bytes of a ring's
    /// step; a tree pays once a level, not for every piece.
    bool pipelined_rings = false, pipelined_trees = false;
};

/// The way of messages among ranks of one node, for groups in one node within all these limits.
struct NodePathRule {
    int max_ranks = kAnyCount;  ///< of the group
    bool every_card = false;    ///< only groups with a rank on every card that the job has on the node
    bool by_host = false;       ///< through the host, from process to process, as messages between nodes; else over the
                                ///< node's own links
};

/// Reads a transport's list of them. Throws InputError, also for a rule that none before it leaves anything to.
[[nodiscard]] std::vector<NodePathRule> read_node_path_rules(const JsonValue& list);

/// Reads a transport's list of them, constants after those that are there. Throws InputError.
[[nodiscard]] std::vector<MessageRule> read_message_rules(const JsonValue& list, const std::string& role,
                                                          double most_seconds, std::vector<Constant>& constants);

}  // namespace auspex::models
