#pragma once
/// @file Where an element of the flat arrays is, which may hold shards: weights that a pass has gathered, gradients
/// that are not summed yet.
#include <algorithm>

#include "base/error.hpp"
#include "exec/state/rank.hpp"
#include "exec/state/sharding.hpp"

namespace auspex::exec {

template <class P>
[[nodiscard]] FlatRange range_of(const Rank<P>& rank, std::size_t bucket, bool experts) {
    return experts ? rank.buckets[bucket].experts : rank.buckets[bucket].dense;
}

/// Place in `rank.buckets` of the one that has an element of an array; their number if none has.
template <class P>
[[nodiscard]] std::size_t bucket_of(const Rank<P>& rank, bool experts, std::size_t flat) {
    std::size_t bucket = 0;
    for (; bucket < rank.buckets.size(); ++bucket) {
        const FlatRange range = range_of(rank, bucket, experts);
        if (flat >= range.begin && flat < range.end) {
            break;
        }
    }
    return bucket;
}

/// The weights from an element of an array on, as far as its unit reaches. They are there: gathered, or not sharded.
template <class P>
[[nodiscard]] const typename P::Value* weights_from(const Rank<P>& rank, bool experts, std::size_t flat) {
    const Weights<P>& w = rank.weights;
    if (!(experts ? w.sharded.experts : w.sharded.dense)) {
        return (experts ? w.experts : w.dense).data() + flat;
    }
    const std::size_t bucket = bucket_of(rank, experts, flat);
    AUSPEX_CHECK(bucket < rank.buckets.size(), "sharded weights are those of a unit");
    const UnitTensors<P>& unit = w.units[bucket];
    const auto& gathered = experts ? unit.experts : unit.dense;
    AUSPEX_CHECK(!gathered.empty(), "weights are gathered before they are read");
    return gathered.data() + (flat - range_of(rank, bucket, experts).begin);
}

/// The gradients that a pass adds to, likewise.
template <class P>
[[nodiscard]] typename P::Gradient* gradients_from(Rank<P>& rank, bool experts, std::size_t flat) {
    Weights<P>& w = rank.weights;
    if (!w.units.empty()) {
        const std::size_t bucket = bucket_of(rank, experts, flat);
        if (bucket < w.units.size()) {
            auto& sums = experts ? w.units[bucket].experts_gradient : w.units[bucket].dense_gradient;
            if (!sums.empty()) {
                return sums.data() + (flat - range_of(rank, bucket, experts).begin);
            }
        }
    }
    AUSPEX_CHECK(!(experts ? w.sharded.experts_gradient : w.sharded.dense_gradient),
                 "gradients that are to be summed have a place of their own");
    return (experts ? w.experts_gradient : w.dense_gradient).data() + flat;
}

/// Place in the rank's shard of an element of an array that lies in it, or of the shard's end.
template <class P>
[[nodiscard]] std::size_t shard_place(const Rank<P>& rank, bool experts, std::size_t flat) {
    const Shard& shard = experts ? rank.optimizer->experts : rank.optimizer->dense;
    const auto piece = std::ranges::find_if(
        shard.pieces, [flat](const Shard::Piece& one) { return flat >= one.range.begin && flat < one.range.end; });
    return piece == shard.pieces.end() ? shard.size() : piece->in_shard + (flat - piece->range.begin);
}

}  // namespace auspex::exec
