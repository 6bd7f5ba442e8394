/// @file Rings, doublings, halvings, trees and two levels of them.
#include "sim/collective_phases.hpp"

#include <bit>
#include <cmath>

#include "base/error.hpp"

namespace auspex {
namespace {

using Steps = std::vector<Step>;
using Algorithm = CollectiveAlgorithm;

void append(Steps& steps, const Steps& more) { steps.insert(steps.end(), more.begin(), more.end()); }

Steps ring(Level level, int n, double bytes) { return {{level, StepShape::kShift, 1, bytes / n, n - 1}}; }

Steps all_pairs(Level level, int n, double bytes) { return {{level, StepShape::kAllPairs, 0, bytes / n, 1}}; }

/// Halving sends B/2 to the neighbour, B/4 at distance 2, ...: most bytes go the shortest way. Requires a power of two
/// of ranks.
Steps halving(Level level, int n, double bytes) {
    Steps steps;
    for (int distance = 1; distance < n; distance *= 2) {
        bytes /= 2;
        steps.push_back({level, StepShape::kXor, distance, bytes, 1});
    }
    return steps;
}

Steps doubling(Level level, int n, double bytes) {
    const Steps down = halving(level, n, bytes);
    return {down.rbegin(), down.rend()};
}

/// Ranks beyond the power of two hand their buffer to a partner first and get the result last.
Steps folded(Level level, int n, double bytes, const Steps& inside) {
    if (power_of_two_within(n) == n) {
        return inside;
    }
    Steps steps{{level, StepShape::kFoldIn, 0, bytes, 1}};
    append(steps, inside);
    steps.push_back({level, StepShape::kFoldOut, 0, bytes, 1});
    return steps;
}

Steps recursive_doubling(Level level, int n, double bytes) {
    Steps steps;
    for (int distance = 1; distance < power_of_two_within(n); distance *= 2) {
        steps.push_back({level, StepShape::kXor, distance, bytes, 1});
    }
    return folded(level, n, bytes, steps);
}

Steps rabenseifner(Level level, int n, double bytes) {
    const int p = power_of_two_within(n);
    Steps steps = halving(level, p, bytes);
    append(steps, doubling(level, p, bytes));
    return folded(level, n, bytes, steps);
}

/// ceil(log2 n) rounds that every rank takes part in: rank i signals i + 1, i + 2, i + 4, ...
Steps dissemination(Level level, int n) {
    return {{level, StepShape::kShift, 1, 0, static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)))}};
}

Steps tree(Level level, int n, double bytes) {
    Steps steps;
    for (int distance = 1; distance < n; distance *= 2) {
        steps.push_back({level, StepShape::kTree, distance, bytes, 1});
    }
    return steps;
}

Steps scatter(Level level, int n, double bytes) {
    Steps steps;
    for (int distance = power_of_two_within(n - 1); distance >= 1; distance /= 2) {
        steps.push_back({level, StepShape::kScatter, distance, bytes * distance / n, 1});
    }
    return steps;
}

Steps pairwise(Level level, int n, double bytes) {
    Steps steps;
    if (n > kMostRanksInLockstep) {
        steps = all_pairs(level, n, bytes);
        steps.push_back({level, StepShape::kAllPairs, 0, 0, n - 2});
        return steps;
    }
    for (int distance = 1; distance < n; ++distance) {
        steps.push_back({level, StepShape::kShift, distance, bytes / n, 1});
    }
    return steps;
}

Steps outer_all_reduce(int nodes, double bytes, const MessageCost& cost) {
    const double log2_nodes = std::ceil(std::log2(nodes));
    const double doubling_s = log2_nodes * (cost.alpha_s + bytes / cost.bytes_per_s);
    const double halving_s = 2 * (log2_nodes * cost.alpha_s + bytes * (nodes - 1) / nodes / cost.bytes_per_s);
    if (doubling_s < halving_s) {
        return recursive_doubling(Level::kOuter, nodes, bytes);
    }
    if (nodes <= kMostNodesOfOuterRing) {
        Steps steps = ring(Level::kOuter, nodes, bytes);
        steps.front().rounds *= 2;
        return steps;
    }
    return rabenseifner(Level::kOuter, nodes, bytes);
}

Steps hierarchical(CommKind comm, const GroupForm& form, double bytes, const MessageCost& cost) {
    const int k = form.per_node, nodes = form.nodes;
    Steps steps;
    switch (comm) {
        case CommKind::kReduceScatter:
            steps = all_pairs(Level::kInner, k, bytes);
            append(steps, ring(Level::kOuter, nodes, bytes / k));
            break;
        case CommKind::kAllGather:
            steps = ring(Level::kOuter, nodes, bytes / k);
            append(steps, all_pairs(Level::kInner, k, bytes));
            break;
        case CommKind::kAllReduce:
            steps = all_pairs(Level::kInner, k, bytes);
            append(steps, outer_all_reduce(nodes, bytes / k, cost));
            append(steps, all_pairs(Level::kInner, k, bytes));
            break;
        case CommKind::kAllToAll:
            steps = all_pairs(Level::kInner, k, bytes);
            append(steps, all_pairs(Level::kOuter, nodes, bytes));
            break;
        case CommKind::kBroadcast:
            steps = tree(Level::kOuter, nodes, bytes);
            append(steps, tree(Level::kInner, k, bytes));
            break;
        default: AUSPEX_CHECK(false, "only collectives have two levels");
    }
    return steps;
}

Steps flat(CommKind comm, Algorithm algorithm, int n, double bytes) {
    const bool halves = algorithm == Algorithm::kRecursiveDoubling || algorithm == Algorithm::kRabenseifner;
    const bool direct = algorithm == Algorithm::kDirect;
    Steps steps;
    switch (comm) {
        case CommKind::kAllReduce:
            if (halves) {
                return algorithm == Algorithm::kRabenseifner ? rabenseifner(Level::kFlat, n, bytes)
                                                             : recursive_doubling(Level::kFlat, n, bytes);
            }
            steps = direct ? all_pairs(Level::kFlat, n, bytes) : ring(Level::kFlat, n, bytes);
            steps.front().rounds *= 2;
            return steps;
        case CommKind::kReduceScatter:
            return halves   ? halving(Level::kFlat, n, bytes)
                   : direct ? all_pairs(Level::kFlat, n, bytes)
                            : ring(Level::kFlat, n, bytes);
        case CommKind::kAllGather:
            return halves   ? doubling(Level::kFlat, n, bytes)
                   : direct ? all_pairs(Level::kFlat, n, bytes)
                            : ring(Level::kFlat, n, bytes);
        case CommKind::kAllToAll: return direct ? all_pairs(Level::kFlat, n, bytes) : pairwise(Level::kFlat, n, bytes);
        case CommKind::kBroadcast:
            if (direct) {
                return {{Level::kFlat, StepShape::kRootToAll, 0, bytes, 1}};
            }
            if (algorithm == Algorithm::kRecursiveDoubling) {
                return tree(Level::kFlat, n, bytes);
            }
            steps = scatter(Level::kFlat, n, bytes);
            append(steps, ring(Level::kFlat, n, bytes));
            return steps;
        default: AUSPEX_CHECK(false, "only collectives have an algorithm");
    }
    return steps;
}

/// The algorithm that a library would fall back to on a group where the one asked for cannot run.
Algorithm feasible(CommKind comm, Algorithm algorithm, const GroupForm& form) {
    if (algorithm == Algorithm::kHierarchical) {
        if (form.nodes == 1) {
            return Algorithm::kDirect;
        }
        return form.per_node == 0 ? Algorithm::kRing : Algorithm::kHierarchical;
    }
    const bool halves = algorithm == Algorithm::kRecursiveDoubling || algorithm == Algorithm::kRabenseifner;
    if (halves && comm == CommKind::kAllToAll) {
        return Algorithm::kRing;
    }
    if (halves && (comm == CommKind::kReduceScatter || comm == CommKind::kAllGather) &&
        power_of_two_within(form.ranks) != form.ranks) {
        return Algorithm::kRing;
    }
    return algorithm;
}

/// Rounds with one rank or one node fall away, and rounds of negligible bytes become those of a ring.
Steps simplified(const Steps& steps, const GroupForm& form, const MessageCost& cost) {
    Steps kept;
    for (Step step : steps) {
        const bool is_latency = step.bytes < kNegligibleBytesTime * cost.alpha_s * cost.bytes_per_s;
        if (is_latency && step.shape != StepShape::kAllPairs && step.shape != StepShape::kPairs) {
            step.shape = StepShape::kShift;
            step.distance = 1;
        }
        const int ranks = step.level == Level::kInner   ? form.per_node
                          : step.level == Level::kOuter ? form.nodes
                                                        : form.ranks;
        if (ranks > 1 && step.rounds > 0) {
            kept.push_back(step);
        }
    }
    return kept;
}

Steps barrier(const GroupForm& form) {
    if (form.per_node == 0) {
        return dissemination(Level::kFlat, form.ranks);
    }
    Steps steps = dissemination(Level::kInner, form.per_node);
    append(steps, dissemination(Level::kOuter, form.nodes));
    return steps;
}

}  // namespace

CollectivePhases phases_of(CommKind comm, CollectiveAlgorithm algorithm, const GroupForm& form, double bytes,
                           const MessageCost& outer) {
    AUSPEX_CHECK(algorithm != Algorithm::kAuto, "the choice of an algorithm needs rates and is the caller's");
    if (form.ranks == 1 || comm == CommKind::kNone || comm == CommKind::kReceive) {
        return {};
    }
    if (comm == CommKind::kSend) {
        return {Algorithm::kDirect, {{Level::kFlat, StepShape::kPairs, 0, bytes, 1}}};
    }
    if (comm == CommKind::kBarrier) {
        return {Algorithm::kRecursiveDoubling, simplified(barrier(form), form, outer)};
    }
    const Algorithm played = feasible(comm, algorithm, form);
    const Steps steps = played == Algorithm::kHierarchical ? hierarchical(comm, form, bytes, outer)
                                                           : flat(comm, played, form.ranks, bytes);
    return {played, simplified(steps, form, outer)};
}

std::vector<CollectiveAlgorithm> candidates(CommKind comm, const GroupForm& form) {
    std::vector<Algorithm> found{Algorithm::kRing, Algorithm::kDirect};
    const bool reduces_all = comm == CommKind::kAllReduce;
    if (reduces_all || comm == CommKind::kBroadcast) {
        found.push_back(Algorithm::kRecursiveDoubling);
    }
    if (reduces_all) {
        found.push_back(Algorithm::kRabenseifner);
    }
    if (form.nodes > 1 && form.per_node > 1) {
        found.push_back(Algorithm::kHierarchical);
    }
    return found;
}

CollectiveAlgorithm algorithm_by_rule(std::span<const AlgorithmRule> rules, double bytes) {
    for (const AlgorithmRule& rule : rules) {
        if (bytes <= rule.max_bytes) {
            return rule.algorithm;
        }
    }
    return Algorithm::kAuto;
}

}  // namespace auspex
