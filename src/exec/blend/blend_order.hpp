#pragma once
/// @file Which source each sequence of a blend comes from: Megatron-LM's rule.
#include <cstdint>
#include <span>
#include <vector>

namespace auspex::exec {

/// Weights over their sum, as Megatron-LM has them: normalised twice (builder and BlendedDataset), each time with the
/// order in which numpy adds up. Requires positive, finite weights.
[[nodiscard]] std::vector<double> megatron_weights(std::span<const double> weights);

/// Sequences that Megatron-LM prepares of each source for a blend of so many, so as never to run out:
/// ceil(1.005 ceil(n w)). Source: megatron/core/datasets/blended_megatron_dataset_builder.py,
/// _get_size_per_split_per_dataset.
[[nodiscard]] std::vector<std::int64_t> megatron_sizes(std::span<const double> weights, std::int64_t sequences);

/// The source of sequence i is the first d that maximises w_d max(i, 1) - count_d, in doubles; count_d is how many of
/// the sequences before are d's. Source: megatron/core/datasets/helpers.cpp, build_blending_indices.
class BlendOrder {
 public:
    /// Weights that sum to 1. Begins at sequence 0.
    explicit BlendOrder(std::span<const double> weights);
    /// Begins at a sequence, of whose predecessors `counts` are each source's.
    BlendOrder(std::span<const double> weights, std::int64_t sequence, std::vector<std::int64_t> counts);

    /// The source of the next sequence.
    std::size_t next();
    [[nodiscard]] std::int64_t sequence() const { return sequence_; }
    [[nodiscard]] const std::vector<std::int64_t>& counts() const { return counts_; }

 private:
    std::vector<double> weights_;
    std::vector<std::int64_t> counts_;
    std::int64_t sequence_ = 0;
};

/// What the counts before a sequence probably are, without those before them: n w by largest remainders 8,192 sequences
/// earlier, then Megatron-LM's rule, which forgets what it began with: within 500 sequences where weights differ by up
/// to 10,000 times (2 to 50 sources). Of weights exp(6 z), z standard normal, one start in six is wrong. Who begins so
/// must compare with the counts that the predecessor ends with.
[[nodiscard]] std::vector<std::int64_t> likely_counts(std::span<const double> weights, std::int64_t sequence);

}  // namespace auspex::exec
