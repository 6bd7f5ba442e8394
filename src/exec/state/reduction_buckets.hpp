#pragma once
/// @file Where the buckets of gradients lie in a rank's flat arrays.
#include <cstddef>
#include <vector>

#include "exec/state/parameters.hpp"
#include "schedule/program/gradient_buckets.hpp"

namespace auspex::exec {

/// A range of a flat array.
struct FlatRange {
    std::size_t begin = 0, end = 0;
    [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// A bucket of schedule::gradient_buckets.
struct ReductionBucket {
    int chunk = 0;
    int first_unit = 0, last_unit = 0;  ///< the last one included: Operation::unit
    FlatRange dense, experts;
    bool sums_dense = false, sums_experts = false;  ///< schedule::summed_parts, where gradients are sharded
};
/// Those of a rank, chunk after chunk; together they are the two arrays, without overlap. None where all gradients are
/// summed behind the last pass.
[[nodiscard]] std::vector<ReductionBucket> reduction_buckets(const models::Workload& workload, const models::Plan& plan,
                                                             const models::Stack& stack, const models::Layout& layout,
                                                             const ParameterTable& table, int stage);

}  // namespace auspex::exec
