/// @file Rings, doublings, halvings, trees and exchanges, over one to three levels.
#include "sim/network/collective/collective_phases.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "base/error.hpp"

namespace auspex {
namespace {

using Steps = std::vector<Step>;
using Algorithm = CollectiveAlgorithm;

/// Every subgroup of a level has n members, and B bytes are in it (communication.hpp says where).
struct Scope {
    Level level;
    int n;
    double bytes;
};

/// What a step is for.
enum class Part {
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

const char* text_of(Part part, Level level) {
    constexpr std::array kParts{"reduce-scatter", "all-gather", "all-reduce", "all-to-all", "broadcast",
                                "scatter",        "fold in",    "fold out",   "reduce",     "barrier"};
    constexpr std::array kLevels{"", " in the node", " between nodes", " in a group of nodes",
                                 " between groups of nodes"};
    static const auto kTexts = [&] {
        std::array<std::array<std::string, kLevels.size()>, kParts.size()> texts;
        for (std::size_t p = 0; p < kParts.size(); ++p) {
            for (std::size_t l = 0; l < kLevels.size(); ++l) {
                texts[p][l] = std::string(kParts[p]) + kLevels[l];
            }
        }
        return texts;
    }();
    return kTexts[static_cast<std::size_t>(part)][static_cast<std::size_t>(level)].c_str();
}

void append(Steps& steps, const Steps& more) { steps.insert(steps.end(), more.begin(), more.end()); }

Steps joined(Steps first, const Steps& second) {
    append(first, second);
    return first;
}

int ceil_log2(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }

/// Adding up `pieces`, one's own among them, in one pass: each is read once, and the sum is written.
double summing(int pieces, double piece_bytes) { return (pieces + 1) * piece_bytes; }

Steps ring(const Scope& s, Part part) {
    const double piece = s.bytes / s.n, sums = part == Part::kReduceScatter ? summing(2, piece) : 0;
    return {{s.level, StepShape::kShift, 1, piece, s.n - 1, sums, text_of(part, s.level)}};
}

/// k rings, each with 1/k of every block: a rank takes part in all of them in every round.
Steps rings(const Scope& s, int k, Part part) {
    const double piece = s.bytes / s.n, sums = part == Part::kReduceScatter ? summing(2, piece) : 0;
    return {{s.level, StepShape::kRings, k, piece / k, s.n - 1, sums, text_of(part, s.level)}};
}

Steps direct(const Scope& s, Part part) {
    const double piece = s.bytes / s.n, sums = part == Part::kReduceScatter ? summing(s.n, piece) : 0;
    return {{s.level, StepShape::kAllPairs, 0, piece, 1, sums, text_of(part, s.level)}};
}

/// The partner of the round that moves most, B/2.
enum class Largest {
    kFarthest,  ///< at distance n/2: the half kept is the one that one's own block lies in, and rank r ends with block
                ///< r
    kNearest,   ///< at distance 1: most bytes go the shortest way, but the blocks end up in another order
};

/// B/2, B/4, ... B/n. Requires a power of two of members.
Steps halving(const Scope& s, Largest largest) {
    Steps steps;
    double bytes = s.bytes;
    for (int distance = 1; distance < s.n; distance *= 2) {
        bytes /= 2;
        const int partner = largest == Largest::kNearest ? distance : s.n / 2 / distance;
        steps.push_back(
            {s.level, StepShape::kXor, partner, bytes, 1, summing(2, bytes), text_of(Part::kReduceScatter, s.level)});
    }
    return steps;
}

/// The way back.
Steps doubling(const Scope& s, Largest largest) {
    Steps steps = halving(s, largest);
    std::reverse(steps.begin(), steps.end());
    for (Step& step : steps) {
        step.summing_bytes = 0;
        step.what = text_of(Part::kAllGather, s.level);
    }
    return steps;
}

/// Members beyond the power of two hand their buffer to a partner first and get the result last.
Steps folded(const Scope& s, const Steps& inside) {
    if (power_of_two_within(s.n) == s.n) {
        return inside;
    }
    Steps steps{{s.level, StepShape::kFoldIn, 0, s.bytes, 1, summing(2, s.bytes), text_of(Part::kFoldIn, s.level)}};
    append(steps, inside);
    steps.push_back({s.level, StepShape::kFoldOut, 0, s.bytes, 1, 0, text_of(Part::kFoldOut, s.level)});
    return steps;
}

Steps recursive_doubling(const Scope& s) {
    Steps steps;
    for (int distance = 1; distance < power_of_two_within(s.n); distance *= 2) {
        steps.push_back(
            {s.level, StepShape::kXor, distance, s.bytes, 1, summing(2, s.bytes), text_of(Part::kAllReduce, s.level)});
    }
    return folded(s, steps);
}

/// In which order blocks lie between halving and doubling does not matter here: doubling goes the same way back.
Steps rabenseifner(const Scope& s) {
    const Scope inside{s.level, power_of_two_within(s.n), s.bytes};
    return folded(s, joined(halving(inside, Largest::kNearest), doubling(inside, Largest::kNearest)));
}

/// Both trees in one direction. Parts of the buffer follow one another, so that every edge carries in every round; a
/// parent adds what its children send to its own.
Steps double_tree(const Scope& s, StepShape shape, int distance, Part part) {
    const int rounds = ceil_log2(s.n), children = s.n == 2 ? 1 : 2;
    const double bytes = s.bytes / 2 / rounds;
    const double sums = shape == StepShape::kTreesUp ? summing(children + 1, bytes) : 0;
    return {{s.level, shape, distance, bytes, rounds, sums, text_of(part, s.level)}};
}

Steps binomial_tree(const Scope& s) {
    Steps steps;
    for (int distance = 1; distance < s.n; distance *= 2) {
        steps.push_back({s.level, StepShape::kTree, distance, s.bytes, 1, 0, text_of(Part::kBroadcast, s.level)});
    }
    return steps;
}

Steps binomial_scatter(const Scope& s) {
    Steps steps;
    for (int distance = power_of_two_within(s.n - 1); distance >= 1; distance /= 2) {
        const int pieces = std::min(distance, s.n - distance);
        steps.push_back(
            {s.level, StepShape::kScatter, distance, s.bytes * pieces / s.n, 1, 0, text_of(Part::kScatter, s.level)});
    }
    return steps;
}

Steps pairwise(const Scope& s) {
    Steps steps;
    const int rounds = s.n - 1, played = std::min(rounds, kMostRoundsOfExchange);
    for (int i = 0; i < played; ++i) {
        const auto first = static_cast<int>(std::int64_t{rounds} * i / played);
        const auto end = static_cast<int>(std::int64_t{rounds} * (i + 1) / played);
        steps.push_back({s.level, StepShape::kShift, 1 + (first + end - 1) / 2, s.bytes / s.n, end - first, 0,
                         text_of(Part::kAllToAll, s.level)});
    }
    return steps;
}

/// Of the indices 0 .. n - 1 those that have this bit.
int count_with_bit(int n, int bit) { return n / (2 * bit) * bit + std::max(0, n % (2 * bit) - bit); }

Steps bruck(const Scope& s, Part part) {
    Steps steps;
    for (int distance = 1; distance < s.n; distance *= 2) {
        const int pieces = part == Part::kAllToAll ? count_with_bit(s.n, distance) : std::min(distance, s.n - distance);
        steps.push_back({s.level, StepShape::kShift, distance, s.bytes * pieces / s.n, 1, 0, text_of(part, s.level)});
    }
    return steps;
}

/// Dissemination: rank i signals i + 1, i + 2, i + 4, ...
/// Without bytes a round lasts as long as its slowest route, and every distance has one as slow as any.
Steps barrier(const Scope& s) {
    return {{s.level, StepShape::kShift, 1, 0, ceil_log2(s.n), 0, text_of(Part::kBarrier, s.level)}};
}

Steps all_reduce(Algorithm algorithm, const Scope& s, int per_node) {
    switch (algorithm) {
        case Algorithm::kRing: return joined(ring(s, Part::kReduceScatter), ring(s, Part::kAllGather));
        case Algorithm::kMultiRing:
            return joined(rings(s, per_node, Part::kReduceScatter), rings(s, per_node, Part::kAllGather));
        case Algorithm::kDirect: return joined(direct(s, Part::kReduceScatter), direct(s, Part::kAllGather));
        case Algorithm::kRecursiveDoubling: return recursive_doubling(s);
        case Algorithm::kRabenseifner: return rabenseifner(s);
        case Algorithm::kDoubleBinaryTree:
            return joined(double_tree(s, StepShape::kTreesUp, 0, Part::kReduce),
                          double_tree(s, StepShape::kTreesDown, 0, Part::kBroadcast));
        default: break;
    }
    check_failed("algorithm", "not one of an all-reduce", __FILE__, __LINE__);
}

Steps broadcast(Algorithm algorithm, const Scope& s) {
    switch (algorithm) {
        case Algorithm::kRing: return joined(binomial_scatter(s), ring(s, Part::kAllGather));
        case Algorithm::kDirect:
            return {{s.level, StepShape::kRootToAll, 0, s.bytes, 1, 0, text_of(Part::kBroadcast, s.level)}};
        case Algorithm::kRecursiveDoubling: return binomial_tree(s);
        case Algorithm::kDoubleBinaryTree: return double_tree(s, StepShape::kTreesDown, 1, Part::kBroadcast);
        default: break;
    }
    check_failed("algorithm", "not one of a broadcast", __FILE__, __LINE__);
}

/// `part` is a reduce-scatter or an all-gather by itself.
Steps one_way(Algorithm algorithm, const Scope& s, int per_node, Part part) {
    switch (algorithm) {
        case Algorithm::kRing: return ring(s, part);
        case Algorithm::kMultiRing: return rings(s, per_node, part);
        case Algorithm::kDirect: return direct(s, part);
        case Algorithm::kBruck: return bruck(s, part);
        case Algorithm::kRecursiveDoubling:
            return part == Part::kAllGather ? doubling(s, Largest::kFarthest) : halving(s, Largest::kFarthest);
        default: break;
    }
    check_failed("algorithm", "not one of a reduce-scatter or an all-gather", __FILE__, __LINE__);
}

/// The algorithm on the outermost level, of members with `per_node` in each node. Requires one that can_run.
Steps outermost(CommKind comm, Algorithm algorithm, const Scope& s, int per_node) {
    switch (comm) {
        case CommKind::kAllReduce: return all_reduce(algorithm, s, per_node);
        case CommKind::kBroadcast: return broadcast(algorithm, s);
        case CommKind::kReduceScatter: return one_way(algorithm, s, per_node, Part::kReduceScatter);
        case CommKind::kAllGather: return one_way(algorithm, s, per_node, Part::kAllGather);
        case CommKind::kAllToAll:
            return algorithm == Algorithm::kDirect  ? direct(s, Part::kAllToAll)
                   : algorithm == Algorithm::kBruck ? bruck(s, Part::kAllToAll)
                                                    : pairwise(s);
        case CommKind::kBarrier: return barrier(s);
        case CommKind::kSend: return {{s.level, StepShape::kPairs, 0, s.bytes, 1, 0, "send"}};
        case CommKind::kNone:
        case CommKind::kReceive: return {};
    }
    check_failed("comm", "unknown kind of communication", __FILE__, __LINE__);
}

/// What the members of an inner level do before the levels outside it.
Steps before_outer(CommKind comm, const Scope& s) {
    switch (comm) {
        case CommKind::kAllReduce:
        case CommKind::kReduceScatter: return direct(s, Part::kReduceScatter);
        case CommKind::kAllToAll: return direct(s, Part::kAllToAll);
        case CommKind::kBroadcast:
            return {{s.level, StepShape::kRootToAll, 0, s.bytes / s.n, 1, 0, text_of(Part::kScatter, s.level)}};
        case CommKind::kBarrier: return barrier(s);
        default: return {};
    }
}

Steps after_outer(CommKind comm, const Scope& s) {
    const bool gathers = comm == CommKind::kAllReduce || comm == CommKind::kAllGather || comm == CommKind::kBroadcast;
    return gathers ? direct(s, Part::kAllGather) : Steps{};
}

/// The same where all buffers of the node lie in host memory.
Steps before_outer_in_host(CommKind comm, const Scope& s) {
    switch (comm) {
        case CommKind::kAllReduce:
        case CommKind::kReduceScatter:
            return {
                {s.level, StepShape::kInHost, 0, summing(s.n, s.bytes / s.n), 1, 0, "reduce-scatter in host memory"}};
        case CommKind::kAllToAll:
            return {{s.level, StepShape::kInHost, 0, 2 * s.bytes, 1, 0, "all-to-all in host memory"}};
        default: return {};
    }
}

/// An all-to-all hands everything on at every level; the others work on the part that fell to a rank further inside.
Steps all_levels(CommKind comm, AlgorithmChoice choice, const GroupForm& form, double bytes, bool in_host) {
    if (choice.levels == 1) {
        return outermost(comm, choice.algorithm, {Level::kFlat, form.ranks, bytes}, form.per_node);
    }
    std::vector<Scope> inner;
    const auto go_inside = [&](Level level, int n) {
        if (n > 1) {
            inner.push_back({level, n, bytes});
            bytes /= comm == CommKind::kAllToAll ? 1 : n;
        }
    };
    go_inside(Level::kInner, form.per_node);
    Scope outer{Level::kOuter, form.nodes, bytes};
    if (choice.levels == 3) {
        go_inside(Level::kMiddle, form.per_block);
        outer = {Level::kFar, form.blocks, bytes};
    }
    Steps steps;
    const auto is_in_host = [&](const Scope& s) { return in_host && s.level == Level::kInner; };
    for (const Scope& s : inner) {
        append(steps, is_in_host(s) ? before_outer_in_host(comm, s) : before_outer(comm, s));
    }
    append(steps, outermost(comm, choice.algorithm, outer, 1));
    for (auto s = inner.rbegin(); s != inner.rend(); ++s) {
        append(steps, is_in_host(*s) ? Steps{} : after_outer(comm, *s));
    }
    return steps;
}

bool can_run(CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
    const std::span<const Algorithm> known = algorithms_of(comm);
    if (std::find(known.begin(), known.end(), choice.algorithm) == known.end()) {
        return false;
    }
    if (choice.algorithm == Algorithm::kMultiRing) {
        return choice.levels == 1 && form.nodes > 1 && form.per_node > 1;
    }
    const bool halves = comm == CommKind::kReduceScatter || comm == CommKind::kAllGather;
    const int members = choice.levels == 1 ? form.ranks : choice.levels == 2 ? form.nodes : form.blocks;
    return choice.algorithm != Algorithm::kRecursiveDoubling || !halves || power_of_two_within(members) == members;
}

/// Levels with one member fall away, and with them the algorithm if it was to run there; levels that are uneven, too.
AlgorithmChoice played(CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
    if (form.per_node == 0) {
        choice.levels = 1;
    }
    if (choice.levels == 3 && form.blocks == 1) {
        choice = {Algorithm::kDirect, 2};
    }
    if (choice.levels == 3 && form.per_block <= 1) {
        choice.levels = 2;
    }
    if (choice.levels == 2 && form.nodes == 1) {
        choice = {Algorithm::kDirect, 1};
    }
    if (choice.levels == 2 && form.per_node == 1) {
        choice.levels = 1;
    }
    if (!can_run(comm, choice, form)) {
        choice.algorithm = algorithms_of(comm).front();
    }
    return choice;
}

/// What a rank sends and receives that must pass through the host.
Steps staged_by_host(CommKind comm, const GroupForm& form, double bytes, const Steps& steps) {
    double sent = bytes, received = bytes;
    if (comm == CommKind::kAllGather) {
        sent = bytes / form.ranks;
    } else if (comm == CommKind::kReduceScatter) {
        received = bytes / form.ranks;
    } else if (comm == CommKind::kAllToAll) {
        sent = received = bytes * (form.ranks - 1) / form.ranks;
    }
    Steps all{{Level::kFlat, StepShape::kToHost, 0, sent, 1, 0, "copy to the host"}};
    append(all, steps);
    all.push_back({Level::kFlat, StepShape::kFromHost, 0, received, 1, 0, "copy from the host"});
    return all;
}

}  // namespace

std::span<const CollectiveAlgorithm> algorithms_of(CommKind comm) {
    static constexpr std::array kAllReduce{Algorithm::kRing,   Algorithm::kRecursiveDoubling, Algorithm::kRabenseifner,
                                           Algorithm::kDirect, Algorithm::kDoubleBinaryTree,  Algorithm::kMultiRing};
    static constexpr std::array kReduceScatter{Algorithm::kRing, Algorithm::kRecursiveDoubling, Algorithm::kDirect,
                                               Algorithm::kMultiRing};
    static constexpr std::array kAllGather{Algorithm::kRing, Algorithm::kRecursiveDoubling, Algorithm::kDirect,
                                           Algorithm::kBruck, Algorithm::kMultiRing};
    static constexpr std::array kAllToAll{Algorithm::kPairwise, Algorithm::kDirect, Algorithm::kBruck};
    static constexpr std::array kBroadcast{Algorithm::kRing, Algorithm::kRecursiveDoubling, Algorithm::kDirect,
                                           Algorithm::kDoubleBinaryTree};
    static constexpr std::array kBarrier{Algorithm::kRecursiveDoubling};
    static constexpr std::array kPoint{Algorithm::kDirect};
    switch (comm) {
        case CommKind::kAllReduce: return kAllReduce;
        case CommKind::kReduceScatter: return kReduceScatter;
        case CommKind::kAllGather: return kAllGather;
        case CommKind::kAllToAll: return kAllToAll;
        case CommKind::kBroadcast: return kBroadcast;
        case CommKind::kBarrier: return kBarrier;
        case CommKind::kNone:
        case CommKind::kSend:
        case CommKind::kReceive: return kPoint;
    }
    check_failed("comm", "unknown kind of communication", __FILE__, __LINE__);
}

CollectivePhases phases_of(CommKind comm, AlgorithmChoice choice, const GroupForm& form, double bytes, bool staged) {
    AUSPEX_CHECK(choice.algorithm != Algorithm::kAuto, "the choice of an algorithm needs rates and is the caller's");
    AUSPEX_CHECK(choice.levels >= 1 && choice.levels <= 3, "a named algorithm runs over one to three levels");
    if (form.ranks == 1 || comm == CommKind::kNone || comm == CommKind::kReceive) {
        return {choice, {}};
    }
    if (comm == CommKind::kSend) {
        choice = {Algorithm::kDirect, 1};
    } else if (comm == CommKind::kBarrier) {
        choice = {Algorithm::kRecursiveDoubling, 2};
    }
    CollectivePhases phases;
    phases.choice = played(comm, choice, form);
    const bool by_host = staged && form.nodes > 1 && comm != CommKind::kBarrier;
    phases.steps = all_levels(comm, phases.choice, form, bytes, by_host);
    if (by_host) {
        phases.steps = staged_by_host(comm, form, bytes, phases.steps);
    }
    return phases;
}

std::vector<AlgorithmChoice> candidates(CommKind comm, const GroupForm& form, int levels) {
    constexpr int kMostLevels = 3;
    std::vector<AlgorithmChoice> found;
    for (int n = levels == 0 ? 1 : levels; n <= (levels == 0 ? kMostLevels : levels); ++n) {
        for (const Algorithm algorithm : algorithms_of(comm)) {
            const AlgorithmChoice choice = played(comm, {algorithm, n}, form);
            if (std::find(found.begin(), found.end(), choice) == found.end()) {
                found.push_back(choice);
            }
        }
    }
    return found;
}

std::span<const AlgorithmRule> collective_rules(const Stack& stack, CommKind comm) {
    switch (comm) {
        case CommKind::kAllReduce: return stack.all_reduce;
        case CommKind::kReduceScatter: return stack.reduce_scatter;
        case CommKind::kAllGather: return stack.all_gather;
        case CommKind::kAllToAll: return stack.all_to_all;
        case CommKind::kBroadcast: return stack.broadcast;
        default: return {};
    }
}

AlgorithmChoice choice_by_rule(std::span<const AlgorithmRule> rules, double bytes) {
    for (const AlgorithmRule& rule : rules) {
        if (bytes <= rule.max_bytes) {
            return {rule.algorithm, rule.levels};
        }
    }
    return {Algorithm::kAuto, 0};
}

}  // namespace auspex
