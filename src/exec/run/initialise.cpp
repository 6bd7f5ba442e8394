/// @file The state before step 0: every weight depends on nothing but the seed, its tensor's name and its index there.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "base/mix64.hpp"
#include "exec/run/interpreter.hpp"
#include "exec/state/optimizer.hpp"
#include "exec/state/router_balance.hpp"
#include "exec/state/tensor_slices.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::exec {
namespace {

constexpr double kCut = 3;  ///< deviations

/// FNV-1a, 64 bits.
std::uint64_t hash_of(const std::string& name) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char letter : name) {
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    }
    return hash;
}

/// In (0, 1].
double uniform(std::uint64_t bits) { return static_cast<double>((bits >> 11) + 1) * 0x1.0p-53; }

/// Standard normal, cut: Box-Muller on two hashes of (stream, index), drawn again while it lies outside.
double cut_normal(std::uint64_t stream, std::uint64_t index) {
    std::uint64_t state = mix64(stream ^ mix64(index));
    for (;;) {
        const std::uint64_t first = mix64(state), second = mix64(first);
        const double x = std::sqrt(-2 * std::log(uniform(first))) * std::cos(2 * std::numbers::pi * uniform(second));
        if (std::abs(x) <= kCut) {
            return x;
        }
        state = second;
    }
}

/// The initial values of elements [begin, end) of a slice, one call each: take(element of the slice, value).
template <class Take>
void draw(const Parameter& parameter, std::uint64_t seed, double deviation, std::size_t begin, std::size_t end,
          const Take& take) {
    const bool is_norm = parameter.shape.size() == 1;
    const std::uint64_t stream = mix64(seed ^ hash_of(parameter.name));
    for_each_run(slice_of(parameter), begin, end, [&](std::size_t whole, std::size_t at, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            take(at + i, parameter.is_bias ? 0 : is_norm ? 1 : deviation * cut_normal(stream, whole + i));
        }
    });
}

/// All weights of an array, or those of the shard that it holds.
template <class P>
void draw_weights(Rank<P>& rank, bool experts) {
    using Value = typename P::Value;
    const std::vector<Parameter>& table = experts ? rank.table.experts : rank.table.dense;
    Buffer<Value>& weights = experts ? rank.weights.experts : rank.weights.dense;
    if (experts ? rank.weights.sharded.experts : rank.weights.sharded.dense) {
        for (const TensorPart& part : shard_parts(rank)) {
            if (part.is_expert == experts) {
                draw(*part.parameter, rank.run->seed, rank.training().initial_deviation, part.begin, part.end,
                     [&](std::size_t i, double value) {
                         weights[part.in_shard + i - part.begin] = stored<Value>(value);
                     });
            }
        }
        return;
    }
    for (const Parameter& p : table) {
        draw(p, rank.run->seed, rank.training().initial_deviation, 0, p.size,
             [&](std::size_t i, double value) { weights[p.offset + i] = stored<Value>(value); });
    }
}

/// The same values, unrounded.
template <class P>
void draw_masters(Rank<P>& rank) {
    for (const TensorPart& part : shard_parts(rank)) {
        Buffer<float>& master = part.is_expert ? rank.optimizer->experts_master : rank.optimizer->dense_master;
        draw(*part.parameter, rank.run->seed, rank.training().initial_deviation, part.begin, part.end,
             [&](std::size_t i, double value) { master[part.in_shard + i - part.begin] = static_cast<float>(value); });
    }
}

template <class P>
ShardedArrays sharded_arrays(const Rank<P>& rank) {
    const models::Plan& plan = rank.plan();
    const bool dense = rank.communicator->size(schedule::shard_groups(plan, false).shard) > 1,
               experts = rank.communicator->size(schedule::shard_groups(plan, true).shard) > 1;
    const bool weights = schedule::shards_weights(plan), gradients = shards_gradients(plan.optimizer);
    return {weights && dense, weights && experts, gradients && dense, gradients && experts};
}

}  // namespace

template <class P>
void initialise_rank(Rank<P>& rank) {
    const auto gradients = [&](std::size_t size) {
        Buffer<typename P::Gradient> buffer(*rank.arena, schedule::MemoryLabel::kGradients, size);
        std::fill_n(buffer.data(), size, typename P::Gradient{});
        return buffer;
    };
    const ParameterTable& table = rank.table;
    Weights<P>& w = rank.weights;
    *rank.optimizer = make_optimizer_state(rank);
    w.sharded = sharded_arrays(rank);
    const std::size_t dense = rank.optimizer->dense.size(), experts = rank.optimizer->experts.size();
    w.dense = Buffer<typename P::Value>(*rank.arena, schedule::MemoryLabel::kWeights,
                                        w.sharded.dense ? dense : table.dense_size);
    w.experts = Buffer<typename P::Value>(*rank.arena, schedule::MemoryLabel::kWeights,
                                          w.sharded.experts ? experts : table.experts_size);
    w.dense_gradient = gradients(w.sharded.dense_gradient ? dense : table.dense_size);
    w.experts_gradient = gradients(w.sharded.experts_gradient ? experts : table.experts_size);
    if (shards_gradients(rank.plan().optimizer)) {
        w.units.resize(rank.buckets.size());
        if (splits_backward(rank.plan().schedule)) {  // gradients wait for a pass of their own
            for (std::size_t i = 0; i < rank.buckets.size(); ++i) {
                w.units[i].dense_gradient = gradients(rank.buckets[i].sums_dense ? rank.buckets[i].dense.size() : 0);
                w.units[i].experts_gradient =
                    gradients(rank.buckets[i].sums_experts ? rank.buckets[i].experts.size() : 0);
            }
        }
    }
    w.balance = make_router_balance(rank);
    draw_weights(rank, false);
    draw_weights(rank, true);
    if constexpr (std::is_same_v<typename P::Value, Bf16>) {
        draw_masters(rank);
    }
}

template void initialise_rank<Fp32>(Rank<Fp32>&);
template void initialise_rank<Fp64>(Rank<Fp64>&);
template void initialise_rank<Bf16Precision>(Rank<Bf16Precision>&);
template void initialise_rank<Bf16WithFp32Gradients>(Rank<Bf16WithFp32Gradients>&);

}  // namespace auspex::exec
