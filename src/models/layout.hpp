#pragma once
/// @file The grid laid over tiles: which rank belongs to which stage and group, and on which node it sits.
#include <cstdint>
#include <vector>

#include "models/machine.hpp"
#include "models/plan.hpp"

namespace auspex::models {

/// The communicators of a stage. All groups of a kind that lie in one stage are siblings and act at the same time.
enum class GroupKind : std::uint8_t {
    kTp,          ///< tp ranks that split the dense matrices
    kCp,          ///< cp ranks that split the sequence
    kCpAllToAll,  ///< of them neighbours that exchange heads for tokens (ContextSplit)
    kCpRing,      ///< of them those that pass keys and values on, or have other windows: one of each kCpAllToAll group
    kEp,          ///< ep ranks that hold different experts (same dp and etp index)
    kEtp,         ///< etp ranks that split one expert
    kExpertDp,    ///< dp replicas of an expert
    kDenseDp,     ///< replicas of the dense part: data_parallel * cp ranks
    kDenseDpOuter,  ///< those of them that hold the same ep index: over which plain "sharded" shards dense states (size
                    ///< dp when tp = etp)
    kDenseDpInner,  ///< replicas of the dense part that hold the same shard of it: one of each kDenseDpOuter group (the
                    ///< ep ranks when tp = etp)
    kDenseShard,    ///< with shard_replicas: neighbours among kDenseDp that shard the dense part by themselves
    kExpertShard,   ///< the same of kExpertDp
    kDenseReshard,  ///< with reshard_ranks: of those that shard the dense part, neighbours that have all of it
    kExpertReshard,  ///< the same of experts
    kShardReplicas,  ///< those that hold the same shards, dense and experts': one of each such group
    kStage,          ///< all N ranks of a stage
    kWorld,          ///< every rank
    kNextStage,      ///< a rank and its counterpart in the next stage (wrapping round): pipeline messages forward
    kPreviousStage,
    kMirrorStage,  ///< a rank and its counterpart in stage pp - 1 - s, which has the same parts of the model (dualpipe)
    kRank,         ///< a rank by itself: copies to its host and back
};
inline constexpr std::size_t kGroupKinds = static_cast<std::size_t>(GroupKind::kRank) + 1;
/// Of a rank and its counterpart in another stage; the others lie in one stage, or are the world.
[[nodiscard]] constexpr bool are_pairs(GroupKind kind) {
    return kind == GroupKind::kNextStage || kind == GroupKind::kPreviousStage || kind == GroupKind::kMirrorStage;
}

/// A plan over tiles. Ranks are 0..tiles-1 in the order of plan.rank_order; rank r sits on tile r % node.tiles of the
/// job's node r / node.tiles.
struct Layout {
    int tiles = 0, pp = 1, dp = 1, ep = 1, etp = 1, tp = 1, cp = 1;
    int cp_all_to_all = 1;   ///< of the cp ranks
    int shard_replicas = 1;  ///< of the plan
    int reshard_ranks = 0;   ///< of the plan
    int stage_ranks = 1;     ///< N = tiles / pp
    int data_parallel = 1;   ///< N / (tp * cp)
    int global_batch = 1;    ///< sequences: micro_batch_size * micro_batches * data_parallel
    int nodes = 1;
    int tiles_per_node = 1;
    std::vector<int> node_of_job_node;  ///< machine node number of each node of the job, by placement
    int pp_stride = 1;                  ///< rank distance between neighbouring stages' counterparts
    /// Rank of the n-th rank of a stage, n = (dp index * ep + ep index) * etp + etp index, whatever the order of axes.
    [[nodiscard]] int rank(int stage, int n) const;
    /// Neighbours among stages, wrapping round: where a virtual stage's chunk ends the next one begins at stage 0.
    [[nodiscard]] int next_stage(int stage) const { return (stage + 1) % pp; }
    [[nodiscard]] int previous_stage(int stage) const { return (stage + pp - 1) % pp; }
    /// That of a pair's other rank.
    [[nodiscard]] int other_stage(GroupKind pair, int stage) const {
        return pair == GroupKind::kNextStage       ? next_stage(stage)
               : pair == GroupKind::kPreviousStage ? previous_stage(stage)
                                                   : pp - 1 - stage;
    }
    std::array<int, 4> stride{};  ///< rank strides of dp, pp, ep, etp (indexed by Axis)
};

/// The grid alone, on one node that has all tiles: for those who run a plan wherever they are. Requires a resolved
/// plan.
[[nodiscard]] Layout rank_grid(const Plan& plan, int tiles);

/// Where a rank stands in the grid: the inverse of Layout::rank, n = (dp * ep size + ep) * etp size + etp.
struct GridCoordinates {
    int stage = 0, dp = 0, ep = 0, etp = 0;
};
[[nodiscard]] GridCoordinates grid_coordinates(const Layout& layout, int rank);

/// Part i of n of `size` elements: [size * i / n, size * (i + 1) / n), in whole numbers. The one rule for optimizer
/// shards, reductions and the memory model.
[[nodiscard]] constexpr std::uint64_t shard_begin(std::uint64_t size, std::uint64_t i, std::uint64_t n) {
    return size / n * i + size % n * i / n;
}

/// Requires a resolved plan. Throws InputError when the machine has too few nodes, the node list is short, repeated or
/// out of range, or tiles is no multiple of... (a last node may be partly used).
[[nodiscard]] Layout make_layout(const Plan& plan, const Machine& machine, int tiles);

/// All sibling groups of a kind in a stage, as lists of ranks in ring order. are_pairs: {from, to}; kWorld ignores the
/// stage. Groups of one rank are returned as such.
[[nodiscard]] std::vector<std::vector<int>> groups_of(const Layout& layout, GroupKind kind, int stage);
/// Size of one group of the kind.
[[nodiscard]] int group_size(const Layout& layout, GroupKind kind);

}  // namespace auspex::models
