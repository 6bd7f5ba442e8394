#pragma once
/// @file Which elements of a whole tensor a slice of it holds, and which part of its tensors a rank answers for.
#include <span>

#include "exec/state/rank.hpp"

namespace auspex::exec {

/// A slice as rows: of each of the tensor's rows of `row` elements, the `chunk` that begin at `first`. The slice's own
/// elements are numbered row by row.
struct Slice {
    std::size_t row = 0, chunk = 0, first = 0;
};
/// Of the part of `parts` along a dimension; split_dimension -1: the whole tensor.
[[nodiscard]] Slice slice_of(std::span<const std::int64_t> shape, int split_dimension, int parts, int part);
[[nodiscard]] Slice slice_of(const Parameter& parameter);
/// Elements of a whole tensor.
[[nodiscard]] std::size_t elements_of(std::span<const std::int64_t> shape);

/// Calls run(whole, at, count) for elements [begin, end) of a slice, by ranges that are contiguous in the whole
/// tensor: `count` elements that begin at element `at` of the slice and at element `whole` of the tensor.
template <class Run>
void for_each_run(const Slice& slice, std::size_t begin, std::size_t end, Run&& run) {
    while (begin < end) {
        const std::size_t within = begin % slice.chunk;
        const std::size_t count = std::min(slice.chunk - within, end - begin);
        run(begin / slice.chunk * slice.row + slice.first + within, begin, count);
        begin += count;
    }
}

/// Elements [begin, end) of a rank's slice of a tensor.
struct TensorPart {
    const Parameter* parameter = nullptr;
    bool is_expert = false;
    std::size_t begin = 0, end = 0;
    std::size_t in_shard = 0;  ///< of its first element, among those of the rank's shard
    bool is_balance = false;   ///< of RouterBalance::bias, which has no shards, moments or gradients
    [[nodiscard]] std::size_t size() const { return end - begin; }
};
/// Where the array of weights, or of gradients, has the first element of a part that lies in the rank's shard.
template <class P>
[[nodiscard]] std::size_t weight_place(const Rank<P>& rank, const TensorPart& part) {
    const bool is_sharded = part.is_expert ? rank.weights.sharded.experts : rank.weights.sharded.dense;
    return is_sharded ? part.in_shard : part.parameter->offset + part.begin;
}
template <class P>
[[nodiscard]] std::size_t gradient_place(const Rank<P>& rank, const TensorPart& part) {
    const bool is_sharded =
        part.is_expert ? rank.weights.sharded.experts_gradient : rank.weights.sharded.dense_gradient;
    return is_sharded ? part.in_shard : part.parameter->offset + part.begin;
}

/// What lies in the rank's optimizer shard.
template <class P>
[[nodiscard]] std::vector<TensorPart> shard_parts(const Rank<P>& rank);
/// What the rank writes when every element is written by exactly one rank: its share of what it and its replicas have
/// in their shards.
template <class P>
[[nodiscard]] std::vector<TensorPart> owned_parts(const Rank<P>& rank);

enum class StateKind { kWeight, kFirstMoment, kSecondMoment, kGradient };
/// Elements of a part that lies in the rank's shard, as fp32: weights unrounded (of the fp32 master, where there is
/// one). Of a router's balance moments are zeros.
template <class P>
void copy_state(const Rank<P>& rank, StateKind kind, const TensorPart& part, std::span<float> to);
/// The way back; a weight goes to the master and, rounded, to the weights. A weight's part may lie outside the shard.
template <class P>
void store_state(Rank<P>& rank, StateKind kind, const TensorPart& part, std::span<const float> from);

}  // namespace auspex::exec
