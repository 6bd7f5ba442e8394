#pragma once
/// @file Collective algorithms as rounds of messages: who sends how much to whom, before routes and rates are known.
#include <span>
#include <vector>

#include "models/stack.hpp"
#include "schedule/communication.hpp"
#include "sim/flow_pattern.hpp"

namespace auspex {

/// `rounds` equal rounds, each with `bytes` on every flow of the shape.
struct Step {
    Level level = Level::kFlat;
    StepShape shape = StepShape::kShift;
    int distance = 1;
    double bytes = 0;
    int rounds = 1;
};

struct CollectivePhases {
    CollectiveAlgorithm algorithm =
        CollectiveAlgorithm::kAuto;  ///< the one that is played; an algorithm that cannot run on the group gives way
    std::vector<Step> steps;
};

/// What a message costs, for the choice between algorithms that differ in messages and bytes.
struct MessageCost {
    double alpha_s = 0;
    double bytes_per_s = 1;
};

/// Above this many nodes the outer all-reduce of a hierarchical one halves and doubles instead of going round a ring.
inline constexpr int kMostNodesOfOuterRing = 16;
/// A pairwise exchange of more ranks than this is played as one round of all pairs with the latency of every message:
/// its rounds are not synchronised, and drift apart until each rank sees the mean of them.
inline constexpr int kMostRanksInLockstep = 64;

/// A message whose bytes take less than this part of its latency is nearly all latency: the rounds of a doubling are
/// then played on one pattern, from neighbour to neighbour, rather than each on its own.
inline constexpr double kNegligibleBytesTime = 0.1;

/// Rounds of `comm` on a group of this form with `bytes` as communication.hpp defines them. n ranks, B bytes:
///   ring:               reduce-scatter, all-gather (n-1) x B/n to the next rank; all-reduce both; all-to-all pairwise:
///   B/n at distance 1 .. n-1 recursive doubling: all-reduce ceil(log2 n) x B at distance 1, 2, 4, ...; ranks beyond a
///   power of two are folded in and out Rabenseifner:       all-reduce B/2 at distance 1, B/4 at 2, ... and back
///   direct:             one round, B/n to every other rank; all-reduce two of them
///   hierarchical:       direct among the k ranks of a node, then B/k between nodes among ranks of the same place;
///   all-gather the other way round
/// Reduce-scatter and all-gather halve and double on powers of two and are rings elsewhere; broadcast: a binomial tree
/// for recursive doubling, the root to all for direct, one tree over nodes and one in them for hierarchical, scatter
/// and all-gather else. Hierarchical needs equally many ranks on every node: otherwise a ring; all in one node: direct;
/// one rank a node: the algorithm between nodes. Requires a named algorithm (not kAuto). kSend is one round of pairs;
/// kNone and kReceive are no rounds; a barrier is doubling without bytes.
[[nodiscard]] CollectivePhases phases_of(CommKind comm, CollectiveAlgorithm algorithm, const GroupForm& form,
                                         double bytes, const MessageCost& outer);

/// Algorithms worth trying for kAuto.
[[nodiscard]] std::vector<CollectiveAlgorithm> candidates(CommKind comm, const GroupForm& form);

/// The algorithm of the first rule whose max_bytes is not exceeded; kAuto without one.
[[nodiscard]] CollectiveAlgorithm algorithm_by_rule(std::span<const AlgorithmRule> rules, double bytes);

}  // namespace auspex
