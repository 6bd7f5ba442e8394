#pragma once
/// @file Which shard of parameters and optimizer states a rank owns.
#include <cstddef>
#include <vector>

#include "exec/state/rank.hpp"

namespace auspex::exec {

/// What this rank updates of a flat array (dense or experts): its piece of each bucket of gradients, or of the whole
/// array, in the array's order. Optimizer states have the pieces one behind the other.
struct Shard {
    struct Piece {
        FlatRange range;
        std::size_t in_shard = 0;  ///< of its first element
    };
    std::vector<Piece> pieces;
    [[nodiscard]] std::size_t size() const {
        return pieces.empty() ? 0 : pieces.back().in_shard + pieces.back().range.size();
    }
};

template <class P>
struct OptimizerState {
    Shard dense, experts;
    Buffer<float> dense_master, experts_master;  ///< fp32 weights of the shard; empty where weights are not bf16
    Buffer<float> dense_m, dense_v, experts_m, experts_v;  ///< moments
};
/// (Fp64 keeps its moments in float too: it is for gradient checks.)

/// How a flat array is shared out among the ranks that hold all of it: over `shard_group`, unless it is replicated;
/// and who else owns the same shard.
struct Sharding {
    bool is_sharded = false;
    models::GroupKind shard_group = models::GroupKind::kExpertDp;
    std::vector<std::vector<std::size_t>> parts;  ///< what is cut by itself, in order: where its shards begin, its end
    std::size_t updated = 0;                      ///< end of those that the rank updates; the mirror does the others
    std::size_t shard_index = 0;                  ///< this rank's among the shards
    models::GroupKind replica_group = models::GroupKind::kExpertDp;
    int replicas = 1, replica = 0;  ///< ranks that own the same shard, and this one's index among them
    [[nodiscard]] Shard shard() const;
    /// The same of the parts that the mirror stage updates.
    [[nodiscard]] Shard mirrored() const;
    /// Elements of the largest shard of what the rank updates, or of what its mirror does; every part counts its own.
    [[nodiscard]] std::size_t longest(bool of_updated) const;
};
template <class P>
[[nodiscard]] Sharding sharding_of(const Rank<P>& rank, bool experts);
/// Where the shards of a range begin that is cut by itself, and its end.
[[nodiscard]] std::vector<std::size_t> shard_offsets(FlatRange range, int shards);

}  // namespace auspex::exec
