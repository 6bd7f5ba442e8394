#pragma once
/// @file Sums of gradients and gathers of parameters as calls of the communicator, made at once or begun.
#include <memory>
#include <vector>

#include "exec/state/rank.hpp"

namespace auspex::exec {

/// One call, in place on a flat array.
struct StepCollective {
    schedule::CommKind comm = schedule::CommKind::kAllReduce;
    models::GroupKind group = models::GroupKind::kDenseDp;
    void* data = nullptr;
    std::size_t count = 0;             ///< all-reduce
    std::vector<std::size_t> offsets;  ///< reduce-scatter, all-gather
    ElementType type = ElementType::kFloat;

    void run(Communicator& communicator) const;
    [[nodiscard]] std::unique_ptr<PendingCollective> begin(Communicator& communicator) const;
};

/// Place in rank.buckets of the bucket, or unit, that an operation of a pass names.
template <class P>
[[nodiscard]] std::size_t bucket_of(const Rank<P>& rank, const CurrentOperation& current);

/// Gradients of one array that the operation sums: those of its bucket, or all.
template <class P>
[[nodiscard]] FlatRange gradients_of(const Rank<P>& rank, const CurrentOperation& current, bool experts);

/// The calls of kGradientEpAllReduce, kGradientReduceExperts, kGradientReduceDense, kParameterGatherExperts and
/// kParameterGatherDense, one after another: sums of a bucket are one call, gathers one for each part that shards are
/// cut from (in a pass, of its unit); a sum that the program repeats has one for each tensor. In a pass what the rank
/// brings to a sum is checked first (check_contribution).
template <class P>
[[nodiscard]] std::vector<StepCollective> step_collectives(Rank<P>& rank, const CurrentOperation& current);

}  // namespace auspex::exec
