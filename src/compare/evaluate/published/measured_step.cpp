/// @file FLOP of a case's model by its source's convention; a step's time from what the source printed.
#include "compare/evaluate/published/measured_step.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/flop_convention.hpp"

namespace auspex::evaluate {
namespace {

/// Latent attention has five products in place of four.
double attention_weights(const PublishedRun::Model& m) {
    const double h = m.hidden, heads = m.heads;
    if (m.kv_rank == 0) {
        return 2 * h * (heads + m.kv_heads) * m.head_size;
    }
    const double keys = m.plain_head_size + m.rope_head_size;
    const double queries = m.q_rank > 0 ? m.q_rank * (h + heads * keys) : h * heads * keys;
    return queries + h * (m.kv_rank + m.rope_head_size) + m.kv_rank * heads * (m.plain_head_size + m.value_head_size) +
           heads * m.value_head_size * h;
}

/// Width of what a token meets in all feed-forwards.
double feed_forward_width(const PublishedRun::Model& m) {
    if (m.experts == 0) {
        return static_cast<double>(m.layers) * m.ffn;
    }
    return static_cast<double>(m.dense_layers) * m.ffn +
           static_cast<double>(m.layers - m.dense_layers) * (m.top_k + m.shared_experts) * m.expert_ffn;
}

}  // namespace

std::optional<double> flop_of_step(const PublishedRun& run) {
    const PublishedRun::Model& m = run.model;
    const std::optional<FlopConvention> convention =
        flop_convention_of(run.flop_convention, run.measured.flop_kind, !denies(run.plan.recompute, "recompute"));
    if (!convention || m.heads == 0) {
        return std::nullopt;
    }
    const double h = m.hidden, s = m.sequence, tokens = run.plan.global_batch * s;
    const double layers = m.layers * attention_weights(m) + (is_swiglu(m) ? 3 : 2) * h * feed_forward_width(m);
    const double sizes = m.kv_rank == 0 ? 2.0 * m.head_size : m.plain_head_size + m.rope_head_size + m.value_head_size;
    const double scores = convention->scores * s * m.layers * m.heads * sizes;
    constexpr double kMultiplyAndAdd = 2;
    return kMultiplyAndAdd * tokens * (convention->passes * (layers + scores) + convention->head_passes * m.vocab * h);
}

namespace {

/// TFLOP/s of a GPU: as printed, or a share of the peak that the convention names ("A100 peak 312 TFLOP/s"). 0:
/// neither.
double tflops_per_gpu(const PublishedRun& run) {
    const std::string& how = run.flop_convention;
    const std::size_t peak = how.find("peak"), number = std::min(how.find_first_of("0123456789", peak), how.size());
    if (run.measured.tflops_per_gpu > 0 || peak == how.npos) {
        return run.measured.tflops_per_gpu;
    }
    return run.measured.mfu * std::strtod(how.c_str() + number, nullptr);
}

}  // namespace

std::optional<MeasuredStep> measured_step(const PublishedRun& run) {
    const PublishedRun::Measured& measured = run.measured;
    const double batch = run.plan.global_batch;
    if (measured.step_s > 0) {
        return MeasuredStep{measured.step_s, "step"};
    }
    if (measured.samples_per_s > 0) {
        return MeasuredStep{batch / measured.samples_per_s, "samples/s"};
    }
    if (measured.tokens_per_s_per_gpu > 0) {
        return MeasuredStep{batch * run.model.sequence / (measured.tokens_per_s_per_gpu * run.gpus), "tokens/s"};
    }
    if (measured.derived_step_s > 0) {
        return MeasuredStep{measured.derived_step_s, "derived step"};
    }
    constexpr double kTera = 1e12;
    const double tflops = tflops_per_gpu(run);
    if (const auto flop = flop_of_step(run); flop && tflops > 0) {
        return MeasuredStep{*flop / (kTera * tflops * run.gpus), "FLOP by the source's formula"};
    }
    return std::nullopt;
}

}  // namespace auspex::evaluate
