/// @file Rings, doublings, halvings, trees and exchanges.
#include "sim/network/collective/collective_rounds.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "base/error.hpp"

namespace auspex::network {

using Algorithm = models::CollectiveAlgorithm;

namespace {

constexpr double kMostPieces = 1e6;  ///< of a tree's half
constexpr double kRounding = 1e-9;   ///< shares of it that are none

int ceil_log2(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }

}  // namespace

const char* text_of(StepPurpose part, Level level) {
    constexpr std::array kParts{"reduce-scatter", "all-gather", "all-reduce", "all-to-all", "broadcast",
                                "scatter",        "fold in",    "fold out",   "reduce",     "barrier"};
    constexpr std::array kLevels{
        "", " in the node", " between nodes", " in a group of nodes", " between groups of nodes", " through the host"};
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

void append(CollectiveSteps& steps, const CollectiveSteps& more) {
    steps.insert(steps.end(), more.begin(), more.end());
}

double summing(int parts, double part_bytes) { return (parts + 1) * part_bytes; }

CollectiveSteps direct(const SubgroupSize& s, StepPurpose part) {
    const double part_bytes = s.bytes / s.n, sums = part == StepPurpose::kReduceScatter ? summing(s.n, part_bytes) : 0;
    return {{s.level, StepShape::kAllPairs, 0, part_bytes, 1, sums, text_of(part, s.level)}};
}

CollectiveSteps barrier(const SubgroupSize& s) {
    return {{s.level, StepShape::kShift, 1, 0, ceil_log2(s.n), 0, text_of(StepPurpose::kBarrier, s.level)}};
}

namespace {

CollectiveSteps joined(CollectiveSteps first, const CollectiveSteps& second) {
    append(first, second);
    return first;
}

CollectiveSteps ring(const SubgroupSize& s, StepPurpose part) {
    const double part_bytes = s.bytes / s.n, sums = part == StepPurpose::kReduceScatter ? summing(2, part_bytes) : 0;
    return {{s.level, StepShape::kShift, 1, part_bytes, s.n - 1, sums, text_of(part, s.level), true}};
}

/// k rings, each with 1/k of every block: a rank takes part in all of them in every round.
CollectiveSteps rings(const SubgroupSize& s, int k, StepPurpose part) {
    const double part_bytes = s.bytes / s.n, sums = part == StepPurpose::kReduceScatter ? summing(2, part_bytes) : 0;
    return {{s.level, StepShape::kRings, k, part_bytes / k, s.n - 1, sums, text_of(part, s.level), true}};
}

/// The partner of the round that moves most, B/2.
enum class Largest {
    kFarthest,  ///< at distance n/2: the half kept is the one that one's own block lies in, and rank r ends with block
                ///< r
    kNearest,   ///< at distance 1: most bytes go the shortest way, but the blocks end up in another order
};

/// B/2, B/4, ... B/n among the largest power of two p of members. Where r others have folded in, each of the first r
/// stands for the block of its neighbour, too: of d neighbouring ones the first have most blocks, d + min(d, r), and a
/// round is as long as its largest message.
CollectiveSteps halving(const SubgroupSize& s, Largest largest) {
    const int p = power_of_two_within(s.n), folded = s.n - p;
    CollectiveSteps steps;
    for (int kept = p / 2; kept >= 1; kept /= 2) {
        const double bytes = s.bytes * (kept + std::min(kept, folded)) / s.n;
        const int partner = largest == Largest::kNearest ? p / 2 / kept : kept;
        steps.push_back({s.level, StepShape::kXor, partner, bytes, 1, summing(2, bytes),
                         text_of(StepPurpose::kReduceScatter, s.level)});
    }
    return steps;
}

/// The way back.
CollectiveSteps doubling(const SubgroupSize& s, Largest largest) {
    CollectiveSteps steps = halving(s, largest);
    std::reverse(steps.begin(), steps.end());
    for (CollectiveStep& step : steps) {
        step.summing_bytes = 0;
        step.what = text_of(StepPurpose::kAllGather, s.level);
    }
    return steps;
}

CollectiveStep fold(const SubgroupSize& s, StepPurpose part, double bytes, double summing_bytes) {
    const StepShape shape = part == StepPurpose::kFoldIn ? StepShape::kFoldIn : StepShape::kFoldOut;
    return {s.level, shape, 0, bytes, 1, summing_bytes, text_of(part, s.level)};
}

/// A reduce-scatter: ranks beyond the power of two hand over all that they have first, and get their block last.
CollectiveSteps halving_by_itself(const SubgroupSize& s) {
    CollectiveSteps steps = halving(s, Largest::kFarthest);
    if (power_of_two_within(s.n) != s.n) {
        steps.insert(steps.begin(), fold(s, StepPurpose::kFoldIn, s.bytes, summing(2, s.bytes)));
        steps.push_back(fold(s, StepPurpose::kFoldOut, s.bytes / s.n, 0));
    }
    return steps;
}

/// An all-gather: they hand over their block first, and get everything last.
CollectiveSteps doubling_by_itself(const SubgroupSize& s) {
    CollectiveSteps steps = doubling(s, Largest::kFarthest);
    if (power_of_two_within(s.n) != s.n) {
        steps.insert(steps.begin(), fold(s, StepPurpose::kFoldIn, s.bytes / s.n, 0));
        steps.push_back(fold(s, StepPurpose::kFoldOut, s.bytes, 0));
    }
    return steps;
}

/// Members beyond the power of two hand their buffer to a partner first and get the result last.
CollectiveSteps with_folded_ranks(const SubgroupSize& s, const CollectiveSteps& inside) {
    if (power_of_two_within(s.n) == s.n) {
        return inside;
    }
    CollectiveSteps steps{fold(s, StepPurpose::kFoldIn, s.bytes, summing(2, s.bytes))};
    append(steps, inside);
    steps.push_back(fold(s, StepPurpose::kFoldOut, s.bytes, 0));
    return steps;
}

CollectiveSteps recursive_doubling(const SubgroupSize& s) {
    CollectiveSteps steps;
    for (int distance = 1; distance < power_of_two_within(s.n); distance *= 2) {
        steps.push_back({s.level, StepShape::kXor, distance, s.bytes, 1, summing(2, s.bytes),
                         text_of(StepPurpose::kAllReduce, s.level)});
    }
    return with_folded_ranks(s, steps);
}

/// In which order blocks lie between halving and doubling does not matter here: doubling goes the same way back.
CollectiveSteps rabenseifner(const SubgroupSize& s) {
    const SubgroupSize inside{s.level, power_of_two_within(s.n), s.bytes};
    return with_folded_ranks(s, joined(halving(inside, Largest::kNearest), doubling(inside, Largest::kNearest)));
}

/// Both trees in one direction. The k pieces of a tree's half follow one another over its d levels, the last of what is
/// left: it has come after d + k - 1 rounds, of which an edge carries in k, and all last as long as if all edges did; a
/// parent adds what its children send to its own.
CollectiveSteps double_tree(const SubgroupSize& s, StepShape shape, int distance, StepPurpose part) {
    const int levels = ceil_log2(s.n), children = s.n == 2 ? 1 : 2;
    const double half = s.bytes / 2, piece = std::min(half, std::max(s.tree_chunk_bytes, half / kMostPieces));
    const double whole = half > 0 ? std::floor(half / piece * (1 + kRounding)) : 1, rest = half - whole * piece;
    const auto step = [&](double bytes, int rounds, int idle) {
        const double sums = shape == StepShape::kTreesUp ? summing(children + 1, bytes) : 0;
        return CollectiveStep{s.level, shape, distance, bytes, rounds, sums, text_of(part, s.level), false, idle};
    };
    CollectiveSteps steps{step(piece, levels - 1 + static_cast<int>(whole), levels - 1)};
    if (rest > kRounding * half) {
        steps.push_back(step(rest, 1, 0));
    }
    return steps;
}

/// The farthest first, as MPICH does: what leaves a node does so before all of its ranks have something to send. Bytes
/// are `bytes_of` the ranks below the receiver and itself.
template <class BytesOf>
CollectiveSteps binomial(const SubgroupSize& s, StepPurpose part, BytesOf bytes_of) {
    CollectiveSteps steps;
    for (int distance = power_of_two_within(s.n - 1); distance >= 1; distance /= 2) {
        const double bytes = bytes_of(std::min(distance, s.n - distance));
        steps.push_back({s.level, StepShape::kTree, distance, bytes, 1, 0, text_of(part, s.level)});
    }
    return steps;
}

CollectiveSteps binomial_tree(const SubgroupSize& s) {
    return binomial(s, StepPurpose::kBroadcast, [&](int) { return s.bytes; });
}

CollectiveSteps binomial_scatter(const SubgroupSize& s) {
    return binomial(s, StepPurpose::kScatter, [&](int parts) { return s.bytes * parts / s.n; });
}

CollectiveSteps pairwise(const SubgroupSize& s) {
    CollectiveSteps steps;
    const int rounds = s.n - 1, played = std::min(rounds, kMaxRoundsOfExchange);
    for (int i = 0; i < played; ++i) {
        const auto first = static_cast<int>(std::int64_t{rounds} * i / played);
        const auto end = static_cast<int>(std::int64_t{rounds} * (i + 1) / played);
        steps.push_back({s.level, StepShape::kShift, 1 + (first + end - 1) / 2, s.bytes / s.n, end - first, 0,
                         text_of(StepPurpose::kAllToAll, s.level)});
    }
    return steps;
}

/// Of the indices 0 .. n - 1 those that have this bit.
int count_with_bit(int n, int bit) { return n / (2 * bit) * bit + std::max(0, n % (2 * bit) - bit); }

CollectiveSteps bruck(const SubgroupSize& s, StepPurpose part) {
    CollectiveSteps steps;
    for (int distance = 1; distance < s.n; distance *= 2) {
        const int parts =
            part == StepPurpose::kAllToAll ? count_with_bit(s.n, distance) : std::min(distance, s.n - distance);
        steps.push_back({s.level, StepShape::kShift, distance, s.bytes * parts / s.n, 1, 0, text_of(part, s.level)});
    }
    return steps;
}

CollectiveSteps all_reduce(Algorithm algorithm, const SubgroupSize& s, int per_node) {
    switch (algorithm) {
        case Algorithm::kRing: return joined(ring(s, StepPurpose::kReduceScatter), ring(s, StepPurpose::kAllGather));
        case Algorithm::kMultiRing:
            return joined(rings(s, per_node, StepPurpose::kReduceScatter), rings(s, per_node, StepPurpose::kAllGather));
        case Algorithm::kDirect:
            return joined(direct(s, StepPurpose::kReduceScatter), direct(s, StepPurpose::kAllGather));
        case Algorithm::kRecursiveDoubling: return recursive_doubling(s);
        case Algorithm::kRabenseifner: return rabenseifner(s);
        case Algorithm::kDoubleBinaryTree:
            return joined(double_tree(s, StepShape::kTreesUp, 0, StepPurpose::kReduce),
                          double_tree(s, StepShape::kTreesDown, 0, StepPurpose::kBroadcast));
        default: break;
    }
    check_failed("algorithm", "not one of an all-reduce", __FILE__, __LINE__);
}

CollectiveSteps broadcast(Algorithm algorithm, const SubgroupSize& s) {
    switch (algorithm) {
        case Algorithm::kRing: return joined(binomial_scatter(s), ring(s, StepPurpose::kAllGather));
        case Algorithm::kDirect:
            return {{s.level, StepShape::kRootToAll, 0, s.bytes, 1, 0, text_of(StepPurpose::kBroadcast, s.level)}};
        case Algorithm::kRecursiveDoubling: return binomial_tree(s);
        case Algorithm::kDoubleBinaryTree: return double_tree(s, StepShape::kTreesDown, 1, StepPurpose::kBroadcast);
        default: break;
    }
    check_failed("algorithm", "not one of a broadcast", __FILE__, __LINE__);
}

/// `part` is a reduce-scatter or an all-gather by itself.
CollectiveSteps one_way(Algorithm algorithm, const SubgroupSize& s, int per_node, StepPurpose part) {
    switch (algorithm) {
        case Algorithm::kRing: return ring(s, part);
        case Algorithm::kMultiRing: return rings(s, per_node, part);
        case Algorithm::kDirect: return direct(s, part);
        case Algorithm::kBruck: return bruck(s, part);
        case Algorithm::kRecursiveDoubling:
            return part == StepPurpose::kAllGather ? doubling_by_itself(s) : halving_by_itself(s);
        default: break;
    }
    check_failed("algorithm", "not one of a reduce-scatter or an all-gather", __FILE__, __LINE__);
}

}  // namespace

CollectiveSteps outermost(schedule::CommKind comm, Algorithm algorithm, const SubgroupSize& s, int per_node) {
    switch (comm) {
        case schedule::CommKind::kAllReduce: return all_reduce(algorithm, s, per_node);
        case schedule::CommKind::kBroadcast: return broadcast(algorithm, s);
        case schedule::CommKind::kReduceScatter: return one_way(algorithm, s, per_node, StepPurpose::kReduceScatter);
        case schedule::CommKind::kAllGather: return one_way(algorithm, s, per_node, StepPurpose::kAllGather);
        case schedule::CommKind::kAllToAll:
            return algorithm == Algorithm::kDirect  ? direct(s, StepPurpose::kAllToAll)
                   : algorithm == Algorithm::kBruck ? bruck(s, StepPurpose::kAllToAll)
                                                    : pairwise(s);
        case schedule::CommKind::kBarrier: return barrier(s);
        case schedule::CommKind::kShift: return {{s.level, StepShape::kShift, 1, s.bytes, 1, 0, "to the next rank"}};
        case schedule::CommKind::kSend: return {{s.level, StepShape::kPairs, 0, s.bytes, 1, 0, "send"}};
        case schedule::CommKind::kRowsToNodes:
        case schedule::CommKind::kRowsFromNodes:
        case schedule::CommKind::kToHost:
        case schedule::CommKind::kFromHost:
        case schedule::CommKind::kNone:
        case schedule::CommKind::kReceive: return {};
    }
    check_failed("comm", "unknown kind of communication", __FILE__, __LINE__);
}

RowWeights row_weights(const models::TokenSpread& spread, int nodes, int ranks) {
    return {static_cast<double>(nodes), rows_to_a_node(spread, nodes, ranks)};
}

CollectiveSteps row_exchange(schedule::CommKind comm, const GroupForm& form, double bytes,
                             const models::TokenSpread& spread) {
    const bool adds = comm == schedule::CommKind::kRowsFromNodes;
    const double part = bytes / form.ranks;
    // A token has its rows on so many ranks, itself a mean one; what is added up is written once a token.
    const double token_rows = mean_parts_reached(spread, form.ranks) / form.ranks, own = part / token_rows;
    if (form.nodes == 1 || form.per_node <= 1) {
        const double sums = adds ? bytes + own : 0;
        return {{Level::kFlat, StepShape::kAllPairs, 0, part, 1, sums, adds ? "rows from ranks" : "rows to ranks"}};
    }
    const double in_nodes = part * form.nodes * row_weights(spread, form.nodes, form.ranks).between_nodes;
    const double sums = adds ? bytes + 2 * in_nodes + own : 0;
    return {
        {Level::kFlat, StepShape::kByNode, form.per_node, part, 1, sums, adds ? "rows from nodes" : "rows to nodes"}};
}

}  // namespace auspex::network
