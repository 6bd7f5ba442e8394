#pragma once
/// @file How a source counts the FLOP of a step, read out of its words.
#include <optional>
#include <string_view>

namespace auspex::evaluate {

struct FlopConvention {
    double passes = 3;       ///< forward passes that layers stand for: 3, or 4 with recomputation of all
    double head_passes = 3;  ///< that the product with the vocabulary stands for
    double scores = 1;       ///< of attention's products between tokens in these: 1 all, 0.5 a causal half, 0 none
};

/// What a run makes again in the backward pass.
struct RecomputedShare {
    double layers = 0;  ///< share of the layers that are made again whole
    bool scores = false;
};

/// `how` in any case, with or without signs of multiplication:
///   6 N, 8 N, 72 B s L h^2, 96 B s L h^2   passes 3, 4, 3, 4 (Narayanan et al. 2021: the head is not made again)
///   12 L h s, 6 L h s (beside 8 N 16, 8)   scores 1, 0.5: a term of layers and tokens, in any order and naming
///   hardware FLOP, HFU, factor 4, "incl. recompute"   passes 3 + layers made again, or scores 4 / 3
///   model FLOP, MFU, Megatron formula      passes 3, scores 1
///   active-parameter FLOP                  passes 3
///   causal attention, half of it           scores 0.5
/// Of parameters, scores are 0 where nothing names attention as counted. `kind`, "model" or "hardware", goes before a
/// text that explains both. Nothing where the words do not tell, or begin with "not stated".
[[nodiscard]] std::optional<FlopConvention> flop_convention_of(std::string_view how, std::string_view kind,
                                                               RecomputedShare recomputed);

/// TFLOP/s of "A100 peak 312 TFLOP/s", "peak ~298"; nothing where there is none, or more than one.
[[nodiscard]] std::optional<double> peak_tflops_in(std::string_view how);

}  // namespace auspex::evaluate
