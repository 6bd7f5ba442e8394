#pragma once
/// @file The rounds of one collective algorithm among the members of one level.
#include <limits>
#include <vector>

#include "models/routing.hpp"
#include "models/stack.hpp"
#include "schedule/program/communication.hpp"
#include "sim/network/collective/group_set.hpp"
#include "sim/network/collective/step_shape.hpp"

namespace auspex::network {

/// `rounds` equal rounds, each with `bytes` on every flow of the shape.
struct CollectiveStep {
    Level level = Level::kFlat;
    StepShape shape = StepShape::kShift;
    int distance = 1;
    double bytes = 0;
    int rounds = 1;
    double summing_bytes = 0;  ///< of memory that every rank reads and writes in a round to add up what came: p parts,
                               ///< its own among them, are read and one is written; 0: nothing is added up
    const char* what = "";     ///< "reduce-scatter in the node": for people
    bool is_ring = false;      ///< the rounds of a ring follow one another member by member
    int idle_rounds = 0;       ///< of the rounds those in which a flow has nothing yet, or nothing more, to carry
};

/// Trees pass on what comes in pieces of at most so many bytes; kWholeTree: all at once.
inline constexpr double kWholeTree = std::numeric_limits<double>::infinity();

/// A pairwise exchange of more rounds plays this many of them, at distances spread evenly, and each for its neighbours.
inline constexpr int kMaxRoundsOfExchange = 127;

using CollectiveSteps = std::vector<CollectiveStep>;

/// Every subgroup of a level has n members, and B bytes are in it (communication.hpp says where).
struct SubgroupSize {
    Level level;
    int n;
    double bytes;
    double tree_chunk_bytes = kWholeTree;
};

/// What a step is for.
enum class StepPurpose {
    kReduceScatter,
    kAllGather,
    kAllReduce,
    kAllToAll,
    kBroadcast,
    kScatter,
    kFoldIn,
    kFoldOut,
    kReduce,
    kBarrier
};

/// "reduce-scatter in the node".
[[nodiscard]] const char* text_of(StepPurpose part, Level level);

void append(CollectiveSteps& steps, const CollectiveSteps& more);

/// Bytes of memory for adding up `parts`, one's own among them, in one pass: each is read once, and the sum is
/// written.
[[nodiscard]] double summing(int parts, double part_bytes);

/// One round: a part of the buffer to every other member.
[[nodiscard]] CollectiveSteps direct(const SubgroupSize& s, StepPurpose part);
/// Dissemination: rank i signals i + 1, i + 2, i + 4, ... Without bytes a round lasts as long as its slowest route, and
/// every distance has one as slow as any.
[[nodiscard]] CollectiveSteps barrier(const SubgroupSize& s);
/// The algorithm on the outermost level, of members with `per_node` in each node. Requires one that can run (played()).
[[nodiscard]] CollectiveSteps outermost(schedule::CommKind comm, models::CollectiveAlgorithm algorithm,
                                        const SubgroupSize& s, int per_node);

/// Weights of the flows of StepShape::kByNode. The bytes of its step are the rows that one rank's tokens have on
/// another rank. In a node a rank hands on what came to it for the tokens of its index in every node, its own among
/// them: rows for `nodes` ranks. Between nodes go the tokens that have any row there.
struct RowWeights {
    double in_node = 1, between_nodes = 1;
};
[[nodiscard]] RowWeights row_weights(const models::TokenSpread& spread, int nodes, int ranks);

/// One round of B bytes (communication.hpp), B/n on a flow of weight 1: both ways at once, as rows that have come to a
/// node go on while others arrive; the first to arrive are not waited for. A group in one node, with one rank a node,
/// or with different numbers on them sends every row straight to its rank. kRowsFromNodes adds up: in a node what its
/// ranks have of a token, at home what the nodes have.
[[nodiscard]] CollectiveSteps row_exchange(schedule::CommKind comm, const GroupForm& form, double bytes,
                                           const models::TokenSpread& spread);
/// No algorithm is chosen: messages, shifts, rows to and from nodes, copies to and from the host.
[[nodiscard]] constexpr bool has_one_way(schedule::CommKind comm) {
    return comm == schedule::CommKind::kSend || comm == schedule::CommKind::kShift ||
           comm == schedule::CommKind::kRowsToNodes || comm == schedule::CommKind::kRowsFromNodes || is_host_copy(comm);
}
[[nodiscard]] constexpr bool moves_rows(schedule::CommKind comm) {
    return comm == schedule::CommKind::kRowsToNodes || comm == schedule::CommKind::kRowsFromNodes;
}

}  // namespace auspex::network
