#pragma once
/// @file Collective algorithms as rounds of messages: who sends how much to whom, before routes and rates are known.
#include <vector>

#include "schedule/program/communication.hpp"
#include "sim/network/collective/algorithm_choice.hpp"
#include "sim/network/collective/collective_rounds.hpp"
#include "sim/network/collective/group_set.hpp"

namespace auspex::network {

/// What of a collective goes through host memory.
struct HostUse {
    bool staging = false;   ///< buffers are copied to the host before their messages leave the device, and back after
    bool messages = false;  ///< those among the ranks of one node, too, where the group lies in one
};

struct CollectivePhases {
    AlgorithmChoice choice;  ///< the one that is played; one that cannot run on the group is replaced
    std::vector<CollectiveStep> steps;
};

/// Rounds of `comm` on a group of this form with `bytes` as communication.hpp defines them, over n ranks (or nodes, or
/// blocks, at the outermost level of several), B bytes. A block is a dragonfly group, leaf or unit; texts call it a
/// group of nodes:
///   ring:               reduce-scatter, all-gather (n-1) x B/n to the next rank; all-reduce both
///   multi-ring:         k rings at once, k the ranks of a node: each over all n ranks with 1/k of the bytes, out of
///                       every node at another rank (step_shape.hpp); one level, k > 1 and 2 or more nodes
///   recursive doubling: all-reduce ceil(log2 n) x B at distance 1, 2, 4, ...; reduce-scatter halves and all-gather
///                       doubles, so that block r is rank r's; as many as are beyond a power of two fold into their
///                       neighbours and out, which stand for their blocks: the largest message of a round is what the
///                       round has
///   Rabenseifner:       all-reduce B/2 at distance 1, B/4 at 2, ... and back; fold in and out likewise
///   double binary tree: all-reduce and broadcast: two trees in which no rank is inside both. B/2 over every edge, up
///                       (not in a broadcast) and down, in k pieces of tree_chunk_bytes, the last of what is left:
///                       ceil(log2 n) + k - 1 rounds
///   direct:             one round, B/n to every other rank; all-reduce two of them; broadcast the root to all
///   pairwise:           all-to-all: B/n at distance 1 .. n-1, a round each
///   Bruck:              all-to-all: ceil(log2 n) rounds at distance 1, 2, 4, ... of the blocks whose index has that
///   bit (B/2 where n is a power of two); all-gather: 1, 2, 4, ... blocks of B/n
/// A broadcast by recursive doubling is a binomial tree, the farthest first, by a ring a binomial scatter and an
/// all-gather round the ring. Two levels: direct among the k ranks of a node, then B/k between nodes among ranks of the
/// same index; all-gather the other way round; all-reduce both; an all-to-all sends B at every level; a broadcast
/// scatters in the root's node and gathers in all. Three levels: the same once more among the nodes of a block. Levels
/// with one member are left out. Needs equally many ranks on every node (and nodes in every block), else one level
/// less. What cannot run is replaced, two levels in one node by direct:
/// a broadcast is what they do in the root's node. Requires a named algorithm (not kAuto). kSend is one round
/// of pairs; rows to and from nodes are row_exchange's, with `spread`; kNone and kReceive are no rounds; kToHost and
/// kFromHost are one copy of every rank; a barrier is dissemination without bytes, over two levels. With
/// `host.messages` the algorithm runs over the ranks of one node as it would over as many nodes (Level::kByHost). With
/// `host.staging`, collectives and sends that leave the node, or do that, begin with a copy of what each rank sends to
/// the host and end with one back of what it receives (StepShape::kToHost, kFromHost). What two and three levels do in
/// the node is then done in host memory, which all its k ranks share (kInHost): a reduce-scatter reads the k parts of a
/// rank's slice and writes their sum, B + B/k a rank; an all-to-all reads B and writes B; nothing is gathered or
/// scattered there.
[[nodiscard]] CollectivePhases phases_of(schedule::CommKind comm, AlgorithmChoice choice, const GroupForm& form,
                                         double bytes, HostUse host, double tree_chunk_bytes = kWholeTree,
                                         const models::TokenSpread& spread = {});

}  // namespace auspex::network
