#pragma once
/// @file Rounds and bytes of collectives in closed form, and the groups on which the tests play them.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "sim/network/collective/collective_phases.hpp"

namespace auspex::testing_collectives {

using Algorithm = models::CollectiveAlgorithm;

inline constexpr double kBytes = 96e6;
inline constexpr std::array kCollectives{schedule::CommKind::kAllReduce, schedule::CommKind::kReduceScatter,
                                         schedule::CommKind::kAllGather, schedule::CommKind::kAllToAll,
                                         schedule::CommKind::kBroadcast};

/// n ranks, one a node, all in one block.
inline network::GroupForm flat_form(int n) { return {n, n, 1, 1, n}; }

inline int floor_log2(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1; }
inline int ceil_log2(int n) { return n == 1 ? 0 : floor_log2(n - 1) + 1; }

inline std::string name_of(schedule::CommKind comm, network::AlgorithmChoice choice, const network::GroupForm& form) {
    return std::string(to_string(comm)) + " " + to_string(choice.algorithm) + ", levels " +
           std::to_string(choice.levels) + ", " + std::to_string(form.ranks) + " ranks on " +
           std::to_string(form.nodes) + " nodes in " + std::to_string(form.blocks) + " blocks";
}

/// Of all rounds of a halving among the power of two p within n, the largest message over B: the blocks of d ranks in
/// the round at distance d, and of those that fold into them.
inline double largest_halves(int n) {
    const int p = network::power_of_two_within(n);
    double blocks = 0;
    for (int d = 1; d < p; d *= 2) {
        blocks += d + std::min(d, n - p);
    }
    return blocks / n;
}

/// Bytes that a rank sends, the mean over n, over B.
inline double share_sent(schedule::CommKind comm, Algorithm algorithm, int n) {
    const double ring = (n - 1.0) / n, p = network::power_of_two_within(n);
    double bits = 0;  // of the indices 0 .. n - 1
    for (int i = 0; i < n; ++i) {
        bits += std::popcount(static_cast<unsigned>(i));
    }
    if (comm == schedule::CommKind::kAllToAll && algorithm == Algorithm::kBruck) {
        return bits / n;
    }
    if (algorithm == Algorithm::kRecursiveDoubling &&
        (comm == schedule::CommKind::kReduceScatter || comm == schedule::CommKind::kAllGather)) {
        // Everything in and a block out, or the other way round; rounds among p as long as their largest message.
        return p / n * largest_halves(n) + (p == n ? 0 : (n - p) / n * (1 + 1.0 / n));
    }
    if (comm != schedule::CommKind::kAllReduce) {
        return ring;
    }
    const double fold = 2 * (n - p) / n;
    return algorithm == Algorithm::kRecursiveDoubling ? p / n * std::log2(p) + fold
           : algorithm == Algorithm::kRabenseifner    ? p / n * 2 * (p - 1) / p + fold
                                                      : 2 * ring;
}

/// Rounds, and bytes through the busiest port over B.
struct ClosedForm {
    int rounds;
    double port_share;
};

/// `pieces`: in which each half of a double tree's buffer is passed on.
inline ClosedForm closed_form(schedule::CommKind comm, Algorithm algorithm, int n, int pieces = 1) {
    const double ring = (n - 1.0) / n;
    const int p = network::power_of_two_within(n), log_p = floor_log2(n), log_n = ceil_log2(n), beyond = p == n ? 0 : 2;
    const double bruck = share_sent(schedule::CommKind::kAllToAll, Algorithm::kBruck, n);
    const bool all_reduce = comm == schedule::CommKind::kAllReduce;
    switch (algorithm) {
        case Algorithm::kRing:
            if (comm == schedule::CommKind::kBroadcast) {
                // The scatter's round at distance d passes min(d, n - d) pieces of B/n, all its rounds n - 1.
                return {log_n + n - 1, 2 * ring};
            }
            return {(all_reduce ? 2 : 1) * (n - 1), (all_reduce ? 2 : 1) * ring};
        case Algorithm::kDirect:
            if (comm == schedule::CommKind::kBroadcast) {
                return {1, n - 1.0};
            }
            return {all_reduce ? 2 : 1, (all_reduce ? 2 : 1) * ring};
        case Algorithm::kRecursiveDoubling:
            if (comm == schedule::CommKind::kBroadcast) {
                return {log_n, static_cast<double>(log_n)};
            }
            return all_reduce ? ClosedForm{log_p + beyond, static_cast<double>(log_p + beyond)}
                              : ClosedForm{log_p + beyond, largest_halves(n) + (p == n ? 0 : 1 + 1.0 / n)};
        case Algorithm::kRabenseifner: return {2 * log_p + beyond, 2 * (p - 1.0) / p + beyond};
        case Algorithm::kDoubleBinaryTree: {
            // A rank sends to its parents in both trees, a parent to two children: B/k in each of L + k - 1 rounds each
            // way; with two ranks half of it.
            const int rounds = log_n + pieces - 1;
            const double share = static_cast<double>(rounds) / pieces;
            return all_reduce ? ClosedForm{2 * rounds, (n == 2 ? 1 : 2) * share} : ClosedForm{rounds, share};
        }
        case Algorithm::kPairwise: return {n - 1, ring};
        case Algorithm::kBruck: return {log_n, comm == schedule::CommKind::kAllToAll ? bruck : ring};
        case Algorithm::kMultiRing:  // not in one node
        case Algorithm::kAuto: break;
    }
    return {0, 0};
}

}  // namespace auspex::testing_collectives
