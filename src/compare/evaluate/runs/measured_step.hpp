#pragma once
/// @file How long a step of a published run took, by what its source prints.
#include <optional>
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published/published_run.hpp"

namespace auspex::evaluate {

/// FLOP of a step as the source counts them; nothing where the convention (words/flop_convention.hpp) is not known or
/// the case has no heads:
///   2 B s (passes (L attention + m h (D ffn + (L - D) (K + shared) expert_ffn)) + head_passes V h)
///     + passes scores 2 B s^2 L heads (key + value size)
/// with attention = head_size h (2 heads + 2 kv), or latent attention's five products, m matrices a feed-forward
/// (is_swiglu), D dense layers, K experts a token; what hardware FLOP count again is what the plan recomputes: whole
/// layers, attention's scores. Ignores: other parts that are made again, routers, windows (Megatron counts the scores
/// outside of them, too), layers that predict a second token, adaptive norms.
[[nodiscard]] std::optional<double> flop_of_step(const PublishedRun& run, const RunNames::Framework& framework);

/// A step's time, and what it was taken from.
struct MeasuredStep {
    double seconds = 0;
    std::string from;  ///< "step", "samples/s", "tokens/s", "derived step", "FLOP by the source's formula"
};
/// What `from` is where FLOP gave the step.
inline constexpr const char* kByFlop = "FLOP by the source's formula";
/// "the step is by FLOP: 3 times the forward pass, 0.5 of attention's scores".
[[nodiscard]] std::string words_of_flop(const PublishedRun& run, const RunNames::Framework& framework);
/// What other numbers of the source say of its step, where that is a tenth and more from what measured_step takes.
[[nodiscard]] std::vector<std::string> contradicting_steps(const PublishedRun& run);
/// All that the case has is an mfu, without the peak that it is a share of.
[[nodiscard]] bool lacks_peak(const PublishedRun& run);
/// Why there is none: what is missing, or not known. Requires: measured_step gives nothing.
[[nodiscard]] std::string why_no_step(const PublishedRun& run);
/// The first of these that the case has: step, samples/s, tokens/s of a GPU, derived step, FLOP (flop_of_step). Nothing
/// where it has none. `peak_assumed`, TFLOP/s, is what an mfu is a share of where the source names no peak; 0: unknown.
[[nodiscard]] std::optional<MeasuredStep> measured_step(const PublishedRun& run, const RunNames::Framework& framework,
                                                        double peak_assumed = 0);

}  // namespace auspex::evaluate
