#pragma once
/// @file Which tokens of a batch a rank has: sequences over data parallelism, positions over cp, and those it routes.
#include <cstdint>
#include <vector>

#include "models/layout.hpp"

namespace auspex::models {

/// Consecutive positions of a sequence, or tokens of a batch.
struct TokenRun {
    std::int64_t first = 0, count = 0;
    bool operator==(const TokenRun&) const = default;
};

/// Positions of a sequence on the `index`-th of cp ranks, in the order of its rows: of 2 cp equal parts the index-th
/// from each end, so that all ranks have as much to attend to under a causal mask. Where 2 cp does not divide the
/// sequence, the index-th of cp parts.
[[nodiscard]] std::vector<TokenRun> dealt_positions(int sequence_length, int cp, int index);

/// Where a rank stands in the grid of the dense part: n = (data * cp size + cp) * tp size + tp.
struct DensePlace {
    int data = 0, cp = 0, tp = 0;
};
/// Of the n-th rank of a stage (Layout::rank).
[[nodiscard]] DensePlace dense_place(const Layout& layout, int n);
/// n of a rank.
[[nodiscard]] int number_in_stage(const Layout& layout, const GridCoordinates& coordinates);

/// Tokens that the n-th rank of a stage routes in a micro-batch, in the order of its rows, numbered in the step's
/// global batch: sequence * sequence_length + position, sequence = (data * micro_batches + micro_batch) *
/// micro_batch_size + i. With etp = tp its own; else the slices, 1 / tp each, of the ranks of its etp group.
[[nodiscard]] std::vector<TokenRun> routed_tokens(const Plan& plan, const Layout& layout, int sequence_length, int n,
                                                  int micro_batch);

/// Tokens of the runs, one by one.
[[nodiscard]] std::vector<std::int64_t> tokens_of(const std::vector<TokenRun>& runs);

/// The most tokens that every run of routed_tokens has a multiple of, whatever the rank.
[[nodiscard]] std::int64_t common_run(const Plan& plan, int sequence_length);

}  // namespace auspex::models
