/// @file Shards of parameters, their norm, and AdamW.
#include "exec/state/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"
#include "exec/kernels/elementwise.hpp"
#include "exec/state/tensor_slices.hpp"
#include "exec/state/unit_arrays.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::exec {
namespace {

/// The spans of one part in gradients, moments, master and weights.
template <class P>
void update_part(Rank<P>& rank, const AdamW& adam, const TensorPart& part) {
    OptimizerState<P>& state = *rank.optimizer;
    const bool expert = part.is_expert;
    const std::size_t in_shard = part.in_shard;
    auto& weights = expert ? rank.weights.experts : rank.weights.dense;
    const auto& gradients = expert ? rank.weights.experts_gradient : rank.weights.dense_gradient;
    auto& m = expert ? state.experts_m : state.dense_m;
    auto& v = expert ? state.experts_v : state.dense_v;
    auto& master = expert ? state.experts_master : state.dense_master;
    update<P>(adam, gradients.span().subspan(gradient_place(rank, part), part.size()),
              m.span().subspan(in_shard, part.size()), v.span().subspan(in_shard, part.size()),
              master.empty() ? std::span<float>{} : master.span().subspan(in_shard, part.size()),
              weights.span().subspan(weight_place(rank, part), part.size()));
}

}  // namespace

std::vector<std::size_t> shard_offsets(FlatRange range, int shards) {
    std::vector<std::size_t> offsets;
    const auto n = static_cast<std::size_t>(shards);
    for (std::size_t i = 0; i <= n; ++i) {
        offsets.push_back(range.begin + models::shard_begin(range.size(), i, n));
    }
    return offsets;
}

namespace {

Shard shard_of(const Sharding& sharding, bool of_updated) {
    Shard shard;
    for (const std::vector<std::size_t>& part : sharding.parts) {
        const FlatRange own{part[sharding.shard_index], part[sharding.shard_index + 1]};
        if (own.size() > 0 && (part.front() < sharding.updated) == of_updated) {
            shard.pieces.push_back({own, shard.size()});
        }
    }
    return shard;
}

}  // namespace

Shard Sharding::shard() const { return shard_of(*this, true); }
Shard Sharding::mirrored() const { return shard_of(*this, false); }

std::size_t Sharding::longest(bool of_updated) const {
    std::size_t all = 0;
    for (const std::vector<std::size_t>& part : parts) {
        std::size_t most = 0;
        for (std::size_t i = 0; i + 1 < part.size(); ++i) {
            most = std::max(most, part[i + 1] - part[i]);
        }
        all += (part.front() < updated) == of_updated ? most : 0;
    }
    return all;
}

namespace {

/// All of an array; where stages are there twice each chunk's.
std::vector<FlatRange> ranges_of_chunks(const ParameterTable& table, bool experts) {
    const std::size_t updated = experts ? table.experts_updated : table.dense_updated,
                      all = experts ? table.experts_size : table.dense_size;
    std::vector<FlatRange> ranges;
    if (updated > 0 || all == 0) {
        ranges.push_back({0, updated});
    }
    if (updated < all) {
        ranges.push_back({updated, all});
    }
    return ranges;
}

/// What of an array is cut into shards by itself: buckets, or all of it.
template <class P>
std::vector<FlatRange> ranges_to_cut(const Rank<P>& rank, bool experts) {
    std::vector<FlatRange> ranges;
    for (const ReductionBucket& bucket : rank.buckets) {
        const FlatRange range = experts ? bucket.experts : bucket.dense;
        if (range.size() > 0) {
            ranges.push_back(range);
        }
    }
    std::ranges::sort(ranges, {}, &FlatRange::begin);
    return ranges.empty() ? ranges_of_chunks(rank.table, experts) : ranges;
}

}  // namespace

template <class P>
Sharding sharding_of(const Rank<P>& rank, bool experts) {
    const Communicator& communicator = *rank.communicator;
    const auto with_replicas = [&](Sharding s, models::GroupKind group) {
        s.replica_group = group;
        s.replicas = communicator.size(group);
        s.replica = communicator.group_rank(group);
        return s;
    };
    const schedule::ShardGroups groups = schedule::shard_groups(rank.plan(), experts);
    Sharding s;
    s.updated = experts ? rank.table.experts_updated : rank.table.dense_updated;
    if (!groups.is_sharded) {
        for (const FlatRange range : ranges_of_chunks(rank.table, experts)) {
            s.parts.push_back({range.begin, range.end});
        }
        return with_replicas(s, groups.shard);
    }
    s.is_sharded = true;
    s.shard_group = groups.shard;
    for (const FlatRange range : ranges_to_cut(rank, experts)) {
        s.parts.push_back(shard_offsets(range, communicator.size(s.shard_group)));
    }
    s.shard_index = static_cast<std::size_t>(communicator.group_rank(s.shard_group));
    const bool is_plain = rank.plan().optimizer == models::OptimizerSharding::kSharded;
    if (is_plain && !experts) {
        return with_replicas(s, models::GroupKind::kDenseDpInner);
    }
    return groups.replicas ? with_replicas(s, *groups.replicas) : s;
}

template <class P>
OptimizerState<P> make_optimizer_state(const Rank<P>& rank) {
    OptimizerState<P> state;
    state.dense = sharding_of(rank, false).shard();
    state.experts = sharding_of(rank, true).shard();
    const auto zeros = [&](schedule::MemoryLabel label, std::size_t count) {
        Buffer<float> buffer(*rank.arena, label, count);
        std::fill_n(buffer.data(), count, 0.0F);
        return buffer;
    };
    if constexpr (std::is_same_v<typename P::Value, Bf16>) {
        state.dense_master = zeros(schedule::MemoryLabel::kMasterWeights, state.dense.size());
        state.experts_master = zeros(schedule::MemoryLabel::kMasterWeights, state.experts.size());
    }
    state.dense_m = zeros(schedule::MemoryLabel::kMoments, state.dense.size());
    state.dense_v = zeros(schedule::MemoryLabel::kMoments, state.dense.size());
    state.experts_m = zeros(schedule::MemoryLabel::kMoments, state.experts.size());
    state.experts_v = zeros(schedule::MemoryLabel::kMoments, state.experts.size());
    return state;
}

template <class P>
void update(const AdamW& adam, std::span<const typename P::Gradient> gradients, std::span<float> m, std::span<float> v,
            std::span<float> master, std::span<typename P::Value> weights) {
    using R = typename P::Real;
    using Stored = typename P::Value;
    record_call("adamw", 1, gradients.size());
    const auto b1 = static_cast<R>(adam.beta1), b2 = static_cast<R>(adam.beta2);
    const auto c1 = static_cast<R>(1 - adam.beta1), c2 = static_cast<R>(1 - adam.beta2);
    const auto scale = static_cast<R>(adam.gradient_scale), keep = static_cast<R>(1 - adam.rate * adam.decay);
    const auto rate = static_cast<R>(adam.rate / (1 - std::pow(adam.beta1, adam.t)));
    const auto correction = static_cast<R>(1 / std::sqrt(1 - std::pow(adam.beta2, adam.t)));
    const auto epsilon = static_cast<R>(adam.epsilon);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        const R g = static_cast<R>(real(gradients[i])) * scale;
        const R first = b1 * static_cast<R>(m[i]) + c1 * g;
        const R second = b2 * static_cast<R>(v[i]) + c2 * g * g;
        const R step = rate * first / (std::sqrt(second) * correction + epsilon);
        m[i] = static_cast<float>(first);
        v[i] = static_cast<float>(second);
        if constexpr (std::is_same_v<Stored, Bf16>) {
            master[i] = keep * master[i] - step;
            weights[i] = stored<Bf16>(master[i]);
        } else {
            weights[i] = keep * weights[i] - step;
        }
    }
}

double clip_scale(double norm, double clip) { return clip > 0 ? clip / std::max(norm, clip) : 1; }

template <class P>
double shard_square_sum(const Rank<P>& rank) {
    const double replicas[2] = {static_cast<double>(sharding_of(rank, false).replicas),
                                static_cast<double>(sharding_of(rank, true).replicas)};
    double sum = 0;
    for (const TensorPart& part : shard_parts(rank)) {
        if (part.parameter->is_copy) {
            continue;
        }
        const auto& all = part.is_expert ? rank.weights.experts_gradient : rank.weights.dense_gradient;
        const double squares = square_sum(part.size(), all.data() + gradient_place(rank, part));
        sum += squares / replicas[part.is_expert ? 1 : 0] / (part.parameter->whole_on_tp ? rank.plan().tp : 1);
    }
    return sum;
}

template <class P>
void update_shards(Rank<P>& rank) {
    const models::Training& t = rank.training();
    AdamW adam{.rate = models::learning_rate_at(t, rank.step, rank.run->last_step),
               .beta1 = t.beta1,
               .beta2 = t.beta2,
               .epsilon = t.epsilon,
               .gradient_scale = clip_scale(rank.gradient_norm, t.clip),
               .t = rank.step + 1};
    for (const TensorPart& part : shard_parts(rank)) {
        adam.decay = part.parameter->decayed ? t.weight_decay : 0;
        update_part(rank, adam, part);
    }
}

#define AUSPEX_INSTANTIATE(P)                                                                               \
    template Sharding sharding_of<P>(const Rank<P>&, bool);                                                 \
    template OptimizerState<P> make_optimizer_state<P>(const Rank<P>&);                                     \
    template void update<P>(const AdamW&, std::span<const P::Gradient>, std::span<float>, std::span<float>, \
                            std::span<float>, std::span<P::Value>);                                         \
    template double shard_square_sum<P>(const Rank<P>&);                                                    \
    template void update_shards<P>(Rank<P>&);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
