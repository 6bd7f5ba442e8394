#pragma once
/// @file How a source counts the FLOP of a step, read out of its words.
#include <optional>
#include <string_view>

namespace auspex::evaluate {

struct FlopConvention {
    double passes = 3;       ///< forward passes that layers stand for: 3, or 4 with recomputation
    double head_passes = 3;  ///< that the product with the vocabulary stands for
    double scores = 1;       ///< of attention's products between tokens: 1 all, 0.5 what a causal mask leaves, 0 none
};

/// `how` in any case, with or without signs of multiplication:
///   6 N, 8 N, 72 B s L h^2, 96 B s L h^2   passes 3, 4, 3, 4 (Narayanan et al. 2021: the head is not made again)
///   12 L, 6 L (16 L, 8 L beside 8 N)       scores 1, 0.5, of the term that grows with the sequence
///   hardware FLOP, HFU, factor 4           passes 4, in runs that recompute
///   model FLOP, MFU, Megatron formula      passes 3; scores 1
///   active-parameter FLOP                  passes 3
///   causal, half                           scores 0.5, where no term has the sequence
/// Of parameters, scores are 0 where nothing names attention. `kind`, "model" or "hardware", goes before a text that
/// explains both. Nothing where the words do not tell, or begin with "not stated".
[[nodiscard]] std::optional<FlopConvention> flop_convention_of(std::string_view how, std::string_view kind,
                                                               bool is_recomputed);

}  // namespace auspex::evaluate
