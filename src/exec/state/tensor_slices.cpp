/// @file Slices of tensors, and the state of their elements.
#include "exec/state/tensor_slices.hpp"

#include <algorithm>
#include <type_traits>

#include "base/error.hpp"
#include "exec/state/sharding.hpp"

namespace auspex::exec {
namespace {

/// The parts of an array's tensors that lie in [begin, end) of it.
void parts_within(const std::vector<Parameter>& table, bool is_expert, ShardRange range,
                  std::vector<TensorPart>& parts) {
    for (const Parameter& p : table) {
        const std::size_t begin = std::max(range.begin, p.offset), end = std::min(range.end, p.offset + p.size);
        if (begin < end) {
            parts.push_back({&p, is_expert, begin - p.offset, end - p.offset});
        }
    }
}

/// Element `flat` of an array, and its index among the shard's.
template <class P>
struct Position {
    Position(const Rank<P>& rank, const TensorPart& part)
        : flat(part.parameter->offset + part.begin),
          in_shard(flat - (part.is_expert ? rank.optimizer->experts : rank.optimizer->dense).begin) {}
    std::size_t flat, in_shard;
};

template <class From>
void copy_reals(const From* from, std::span<float> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = static_cast<float>(real(from[i]));
    }
}

}  // namespace

std::size_t elements_of(std::span<const std::int64_t> shape) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) {
        count *= static_cast<std::size_t>(extent);
    }
    return count;
}

Slice slice_of(std::span<const std::int64_t> shape, int split_dimension, int parts, int part) {
    const std::size_t row =
        elements_of(split_dimension < 0 ? shape : shape.subspan(static_cast<std::size_t>(split_dimension)));
    const std::size_t chunk = row / static_cast<std::size_t>(parts);
    return {row, chunk, chunk * static_cast<std::size_t>(part)};
}

Slice slice_of(const Parameter& p) { return slice_of(p.shape, p.split_dimension, p.parts, p.part); }

template <class P>
std::vector<TensorPart> shard_parts(const Rank<P>& rank) {
    std::vector<TensorPart> parts;
    parts_within(rank.table.dense, false, rank.optimizer->dense, parts);
    parts_within(rank.table.experts, true, rank.optimizer->experts, parts);
    return parts;
}

template <class P>
std::vector<TensorPart> owned_parts(const Rank<P>& rank) {
    std::vector<TensorPart> parts;
    for (const bool is_expert : {false, true}) {
        const Sharding s = sharding_of(rank.plan(), *rank.communicator, rank.table, is_expert);
        const ShardRange all = s.range();
        const auto replica = static_cast<std::size_t>(s.replica), replicas = static_cast<std::size_t>(s.replicas);
        const ShardRange share{all.begin + models::shard_begin(all.size(), replica, replicas),
                               all.begin + models::shard_begin(all.size(), replica + 1, replicas)};
        parts_within(is_expert ? rank.table.experts : rank.table.dense, is_expert, share, parts);
    }
    const auto tp = static_cast<std::size_t>(rank.plan().tp), tp_index = static_cast<std::size_t>(rank.coordinates.tp);
    for (TensorPart& part : parts) {
        if (part.parameter->whole_on_tp) {
            const std::size_t begin = part.begin, size = part.size();
            part.begin = begin + models::shard_begin(size, tp_index, tp);
            part.end = begin + models::shard_begin(size, tp_index + 1, tp);
        }
    }
    std::erase_if(parts, [](const TensorPart& part) { return part.size() == 0 || part.parameter->is_copy; });
    return parts;
}

template <class P>
void copy_state(const Rank<P>& rank, StateKind kind, const TensorPart& part, std::span<float> to) {
    AUSPEX_CHECK(to.size() == part.size(), "a number for every element");
    const OptimizerState<P>& state = *rank.optimizer;
    const Position<P> at(rank, part);
    const bool expert = part.is_expert;
    const auto moment = [&](const Buffer<float>& buffer) { copy_reals(buffer.data() + at.in_shard, to); };
    switch (kind) {
        case StateKind::kFirstMoment: moment(expert ? state.experts_m : state.dense_m); break;
        case StateKind::kSecondMoment: moment(expert ? state.experts_v : state.dense_v); break;
        case StateKind::kGradient:
            copy_reals((expert ? rank.weights.experts_gradient : rank.weights.dense_gradient).data() + at.flat, to);
            break;
        case StateKind::kWeight:
            if constexpr (std::is_same_v<typename P::Value, Bf16>) {
                moment(expert ? state.experts_master : state.dense_master);
            } else {
                copy_reals((expert ? rank.weights.experts : rank.weights.dense).data() + at.flat, to);
            }
            break;
    }
}

template <class P>
void store_state(Rank<P>& rank, StateKind kind, const TensorPart& part, std::span<const float> from) {
    using Value = typename P::Value;
    AUSPEX_CHECK(from.size() == part.size() && kind != StateKind::kGradient, "a number for every element");
    OptimizerState<P>& state = *rank.optimizer;
    const bool expert = part.is_expert;
    const std::size_t flat = part.parameter->offset + part.begin;
    if (kind == StateKind::kWeight) {
        Value* weights = (expert ? rank.weights.experts : rank.weights.dense).data() + flat;
        std::transform(from.begin(), from.end(), weights, [](float value) { return stored<Value>(value); });
        if constexpr (!std::is_same_v<Value, Bf16>) {
            return;
        }
    }
    Buffer<float>& to = kind == StateKind::kWeight        ? expert ? state.experts_master : state.dense_master
                        : kind == StateKind::kFirstMoment ? expert ? state.experts_m : state.dense_m
                        : expert                          ? state.experts_v
                                                          : state.dense_v;
    const ShardRange shard = expert ? state.experts : state.dense;
    const std::size_t begin = std::max(flat, shard.begin), end = std::min(flat + part.size(), shard.end);
    if (begin < end) {
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin - flat), end - begin,
                    to.data() + (begin - shard.begin));
    }
}

#define AUSPEX_INSTANTIATE(P)                                                                    \
    template std::vector<TensorPart> shard_parts<P>(const Rank<P>&);                             \
    template std::vector<TensorPart> owned_parts<P>(const Rank<P>&);                             \
    template void copy_state<P>(const Rank<P>&, StateKind, const TensorPart&, std::span<float>); \
    template void store_state<P>(Rank<P>&, StateKind, const TensorPart&, std::span<const float>);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
