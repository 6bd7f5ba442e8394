/// @file Slices of tensors, and the state of their elements.
#include "exec/state/tensor_slices.hpp"

#include <algorithm>
#include <type_traits>

#include "base/error.hpp"
#include "exec/state/sharding.hpp"

namespace auspex::exec {
namespace {

/// The parts of an array's tensors that lie in a piece of the shard.
void parts_within(const std::vector<Parameter>& table, bool is_expert, const Shard::Piece& piece,
                  std::vector<TensorPart>& parts) {
    for (const Parameter& p : table) {
        const std::size_t begin = std::max(piece.range.begin, p.offset);
        const std::size_t end = std::min(piece.range.end, p.offset + p.size);
        if (begin < end) {
            parts.push_back(
                {&p, is_expert, begin - p.offset, end - p.offset, piece.in_shard + (begin - piece.range.begin)});
        }
    }
}

/// The elements [from, to) of a part.
TensorPart within(TensorPart part, std::size_t from, std::size_t to) {
    part.in_shard += from;
    part.end = part.begin + to;
    part.begin += from;
    return part;
}

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
    for (const Shard::Piece& piece : rank.optimizer->dense.pieces) {
        parts_within(rank.table.dense, false, piece, parts);
    }
    for (const Shard::Piece& piece : rank.optimizer->experts.pieces) {
        parts_within(rank.table.experts, true, piece, parts);
    }
    return parts;
}

template <class P>
std::vector<TensorPart> owned_parts(const Rank<P>& rank) {
    std::vector<TensorPart> parts;
    for (const bool is_expert : {false, true}) {
        const Sharding s = sharding_of(rank, is_expert);
        const auto replica = static_cast<std::size_t>(s.replica), replicas = static_cast<std::size_t>(s.replicas);
        for (const Shard::Piece& all : s.shard().pieces) {
            const std::size_t from = models::shard_begin(all.range.size(), replica, replicas);
            const std::size_t to = models::shard_begin(all.range.size(), replica + 1, replicas);
            parts_within(is_expert ? rank.table.experts : rank.table.dense, is_expert,
                         {{all.range.begin + from, all.range.begin + to}, all.in_shard + from}, parts);
        }
    }
    const auto tp = static_cast<std::size_t>(rank.plan().tp), tp_index = static_cast<std::size_t>(rank.coordinates.tp);
    for (TensorPart& part : parts) {
        if (part.parameter->whole_on_tp) {
            part = within(part, models::shard_begin(part.size(), tp_index, tp),
                          models::shard_begin(part.size(), tp_index + 1, tp));
        }
    }
    std::erase_if(parts, [](const TensorPart& part) { return part.size() == 0 || part.parameter->is_copy; });
    return parts;
}

template <class P>
void copy_state(const Rank<P>& rank, StateKind kind, const TensorPart& part, std::span<float> to) {
    AUSPEX_CHECK(to.size() == part.size(), "a number for every element");
    if (part.is_balance) {
        AUSPEX_CHECK(kind != StateKind::kGradient, "a bias that no gradient trains");
        const std::span<const float> bias = rank.weights.balance.bias.span();
        const auto from = bias.subspan(part.parameter->offset + part.begin, part.size());
        std::ranges::fill(to, 0.0F);
        if (kind == StateKind::kWeight) {
            std::ranges::copy(from, to.begin());
        }
        return;
    }
    const OptimizerState<P>& state = *rank.optimizer;
    const bool expert = part.is_expert;
    const auto moment = [&](const Buffer<float>& buffer) { copy_reals(buffer.data() + part.in_shard, to); };
    switch (kind) {
        case StateKind::kFirstMoment: moment(expert ? state.experts_m : state.dense_m); break;
        case StateKind::kSecondMoment: moment(expert ? state.experts_v : state.dense_v); break;
        case StateKind::kGradient:
            copy_reals((expert ? rank.weights.experts_gradient : rank.weights.dense_gradient).data() +
                           gradient_place(rank, part),
                       to);
            break;
        case StateKind::kWeight:
            if constexpr (std::is_same_v<typename P::Value, Bf16>) {
                moment(expert ? state.experts_master : state.dense_master);
            } else {
                copy_reals((expert ? rank.weights.experts : rank.weights.dense).data() + weight_place(rank, part), to);
            }
            break;
    }
}

template <class P>
void store_state(Rank<P>& rank, StateKind kind, const TensorPart& part, std::span<const float> from) {
    using Value = typename P::Value;
    AUSPEX_CHECK(from.size() == part.size() && kind != StateKind::kGradient, "a number for every element");
    if (part.is_balance) {
        if (kind == StateKind::kWeight) {
            std::ranges::copy(from, rank.weights.balance.bias.data() + part.parameter->offset + part.begin);
        }
        return;
    }
    OptimizerState<P>& state = *rank.optimizer;
    const bool expert = part.is_expert;
    const std::size_t flat = part.parameter->offset + part.begin;
    const std::vector<Shard::Piece>& pieces = (expert ? state.experts : state.dense).pieces;
    const auto for_each_common = [&](const auto& copy) {  // elements of `from` that lie in the shard
        for (const Shard::Piece& piece : pieces) {
            const std::size_t begin = std::max(flat, piece.range.begin),
                              end = std::min(flat + part.size(), piece.range.end);
            if (begin < end) {
                copy(from.subspan(begin - flat, end - begin), piece.in_shard + (begin - piece.range.begin));
            }
        }
    };
    if (kind == StateKind::kWeight) {
        Buffer<Value>& weights = expert ? rank.weights.experts : rank.weights.dense;
        const auto store = [&](std::span<const float> values, std::size_t at) {
            std::ranges::transform(values, weights.data() + at, [](float value) { return stored<Value>(value); });
        };
        (expert ? rank.weights.sharded.experts : rank.weights.sharded.dense) ? for_each_common(store)
                                                                             : store(from, flat);
        if constexpr (!std::is_same_v<Value, Bf16>) {
            return;
        }
    }
    Buffer<float>& to = kind == StateKind::kWeight        ? expert ? state.experts_master : state.dense_master
                        : kind == StateKind::kFirstMoment ? expert ? state.experts_m : state.dense_m
                        : expert                          ? state.experts_v
                                                          : state.dense_v;
    for_each_common([&](std::span<const float> values, std::size_t at) { std::ranges::copy(values, to.data() + at); });
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
