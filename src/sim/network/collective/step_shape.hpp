#pragma once
/// @file The shape of one round of a collective: who takes part, and who sends to whom.
#include <array>
#include <bit>
#include <cstdint>

namespace auspex::network {

/// Which ranks of a group take part with each other.
enum class Level : std::uint8_t {
    kFlat,        ///< the whole group
    kIntraNode,   ///< those that share a node
    kInterNode,   ///< those with the same index in their nodes, one a node
    kIntraBlock,  ///< those of kInterNode that lie in one block (dragonfly group, leaf, unit)
    kInterBlock,  ///< those of kInterNode with the same index in their blocks, one a block
    kByHost,      ///< the whole group, which lies in one node: from process to process through the host
};

/// Rank i of n sends to ...
enum class StepShape : std::uint8_t {
    kShift,      ///< (i + distance) mod n; 1: a ring
    kXor,        ///< i xor distance, among the folded ranks (folded_rank), as many as the largest power of two
    kFoldIn,     ///< those that are not among these send to their neighbour i + 1, which is
    kFoldOut,    ///< and receive from there
    kAllPairs,   ///< every other rank
    kTree,       ///< i + distance, for i a multiple of 2 distance: a round of a binomial tree from rank 0
    kRootToAll,  ///< rank 0 to every other
    kPairs,      ///< the group is {from, to}
    kTreesUp,    ///< both trees of for_each_double_tree_edge, children to parents
    kTreesDown,  ///< parents to children; distance 1: rank 0 to the roots of two trees of the other ranks
    kToHost,     ///< every rank copies to its host: no flow between ranks
    kFromHost,
    kInHost,  ///< every rank works in the memory of its socket: no flow between ranks
    kRings,   ///< k = `distance` rings over all n ranks, k a node (ring_rank): its successor in each of them
    kByNode,  ///< of k = `distance` ranks a node: the ones with its index in other nodes, and the others of its own
};

/// True for copies to and from, and work in, host memory: no flow between ranks.
[[nodiscard]] constexpr bool is_host_work(StepShape shape) {
    return shape == StepShape::kToHost || shape == StepShape::kFromHost || shape == StepShape::kInHost;
}

/// Largest power of two <= n. Requires n >= 1.
[[nodiscard]] inline int power_of_two_within(int n) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
}

/// The s-th of the p ranks that are left of n, the largest power of two, when the first 2 (n - p) have folded in pairs,
/// each even one into the odd one above it. Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective
/// Communication Operations in MPICH", Int. Journal of High Performance Computing Applications 19 (2005).
[[nodiscard]] inline int folded_rank(int s, int n) {
    const int beyond = n - power_of_two_within(n);
    return s < beyond ? 2 * s + 1 : s + beyond;
}

/// Calls emit(child, parent) for the edges of a binary tree over n >= 1 ranks from `first` on, those of a subtree
/// before the one above it; returns the root. Ranks stand in order, and every second one, `first` the first, is a leaf.
/// Height: floor(log2 n) edges.
template <class Emit>
int for_each_tree_edge(int first, int n, Emit&& emit) {
    const int p = power_of_two_within(n), root = first + p - 1;
    if (p > 1) {
        emit(for_each_tree_edge(first, p - 1, emit), root);
    }
    if (n > p) {
        emit(for_each_tree_edge(first + p, n - p, emit), root);
    }
    return root;
}

/// The same for two trees over ranks first .. first + n - 1, one after the other; returns both roots. The second is the
/// first reflected (n even) or moved by one (n odd), so that a rank with children in one is a leaf in the other.
/// Source: P. Sanders, J. Speck, J. L. Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
/// Parallel Computing 35 (2009).
template <class Emit>
std::array<int, 2> for_each_double_tree_edge(int first, int n, Emit&& emit) {
    const auto second = [first, n](int i) { return first + (n % 2 == 0 ? n - 1 - i : (i + n - 1) % n); };
    const int root = for_each_tree_edge(first, n, emit);
    const int other = for_each_tree_edge(0, n, [&](int child, int parent) { emit(second(child), second(parent)); });
    return {root, second(other)};
}

/// The i-th rank of ring `ring` among k rings over nodes of k ranks, one node after the other. A ring visits all ranks
/// of a node, from `ring` upwards on even nodes and down to it on odd ones: it enters the next node at the index
/// at which it left the one before, each ring at an index of its own. Only from the last of an odd number of nodes back
/// to the first the indices differ.
[[nodiscard]] constexpr int ring_rank(int ring, int i, int k) {
    const int node = i / k, step = i % k;
    return node * k + (node % 2 == 0 ? ring + step : ring + k - 1 - step) % k;
}

/// True if each of n ranks sends to one and receives from one.
[[nodiscard]] constexpr bool is_permutation(StepShape shape, int n) {
    return shape == StepShape::kShift || (shape == StepShape::kXor && power_of_two_within(n) == n);
}

/// for_each_pair of trees. Requires n >= 2 and the shape of a tree or of a round from the root.
template <class Emit>
void for_each_tree_pair(StepShape shape, int distance, int n, Emit& emit) {
    switch (shape) {
        case StepShape::kTree:
            for (int i = 0; i + distance < n; i += 2 * distance) {
                emit(i, i + distance);
            }
            return;
        case StepShape::kRootToAll:
            for (int i = 1; i < n; ++i) {
                emit(0, i);
            }
            return;
        case StepShape::kTreesUp: (void)for_each_double_tree_edge(0, n, emit); return;
        case StepShape::kTreesDown: {
            const auto downwards = [&](int child, int parent) { emit(parent, child); };
            const std::array<int, 2> roots = for_each_double_tree_edge(distance, n - distance, downwards);
            if (distance == 1) {
                emit(0, roots[0]);
                emit(0, roots[1]);
            }
            return;
        }
        default: return;
    }
}

/// Calls emit(i, j) for every flow from the i-th to the j-th of n ranks.
template <class Emit>
void for_each_pair(StepShape shape, int distance, int n, Emit&& emit) {
    if (n < 2) {
        return;
    }
    const int p = power_of_two_within(n);
    switch (shape) {
        case StepShape::kShift:
            for (int i = 0; i < n; ++i) {
                emit(i, (i + distance) % n);
            }
            return;
        case StepShape::kXor:
            for (int s = 0; s < p; ++s) {
                emit(folded_rank(s, n), folded_rank(s ^ distance, n));
            }
            return;
        case StepShape::kFoldIn:
            for (int i = 0; i < 2 * (n - p); i += 2) {
                emit(i, i + 1);
            }
            return;
        case StepShape::kFoldOut:
            for (int i = 0; i < 2 * (n - p); i += 2) {
                emit(i + 1, i);
            }
            return;
        case StepShape::kAllPairs:
            for (int i = 0; i < n; ++i) {
                for (int j = 0; j < n; ++j) {
                    if (i != j) {
                        emit(i, j);
                    }
                }
            }
            return;
        case StepShape::kPairs: emit(0, 1); return;
        case StepShape::kRings:
            for (int ring = 0; ring < distance; ++ring) {
                for (int i = 0; i < n; ++i) {
                    emit(ring_rank(ring, i, distance), ring_rank(ring, (i + 1) % n, distance));
                }
            }
            return;
        case StepShape::kByNode:
            for (int i = 0; i < n; ++i) {
                for (int j = i % distance; j < n; j += distance) {
                    if (i != j) {
                        emit(i, j);
                    }
                }
                for (int j = i - i % distance; j < i - i % distance + distance; ++j) {
                    if (i != j) {
                        emit(i, j);
                    }
                }
            }
            return;
        case StepShape::kToHost:
        case StepShape::kFromHost:
        case StepShape::kInHost: return;
        default: for_each_tree_pair(shape, distance, n, emit);
    }
}

}  // namespace auspex::network
