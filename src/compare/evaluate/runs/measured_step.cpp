/// @file FLOP of a case's model by its source's convention; a step's time from what the source printed.
#include "compare/evaluate/runs/measured_step.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "compare/evaluate/runs/run_recompute.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/flop_convention.hpp"
#include "compare/evaluate/words/words.hpp"

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

/// As the plan has it that is predicted.
RecomputedShare recomputed_of(const PublishedRun& run, const RunNames::Framework& framework) {
    const RunRecompute again = recompute_of(run, framework, run.plan.virtual_stages);
    const auto has_part = [&](const char* part) { return std::ranges::find(again.words, part) != again.words.end(); };
    const double of_stage =
        static_cast<double>(run.model.layers) / (run.plan.pp * std::max(1, run.plan.virtual_stages));
    const double share = again.layers > 0 ? std::min(1.0, again.layers / of_stage) : 1;
    return {.layers = has_part("layer") ? share : 0, .scores = has_part("core_attention")};
}

bool has_kind(const PublishedRun::Measured& measured) {
    return says(measured.flop_kind, "model") || says(measured.flop_kind, "hardware");
}

/// All that the FLOP are known by is a share of the peak.
bool has_mfu_alone(const PublishedRun::Measured& measured) { return measured.tflops_per_gpu <= 0 && measured.mfu > 0; }

/// The source names the peak and nothing else, or nothing.
bool is_count_unstated(const PublishedRun& run) {
    const bool is_peak = lower_case(run.flop_convention).starts_with("peak") && peak_tflops_in(run.flop_convention);
    return is_unstated(run.flop_convention) || (is_peak && !flop_convention_of(run.flop_convention, "", {}));
}

/// How FLOP were counted: in the source's words, else by their kind alone, "model" or "hardware", which an mfu says by
/// its name.
std::string words_of_count(const PublishedRun& run) {
    const PublishedRun::Measured& measured = run.measured;
    const std::string kind = has_kind(measured) ? measured.flop_kind : has_mfu_alone(measured) ? "model" : "";
    return is_count_unstated(run) && !kind.empty() ? kind + " FLOP" : run.flop_convention;
}

std::optional<FlopConvention> convention_of(const PublishedRun& run, const RunNames::Framework& framework) {
    return flop_convention_of(words_of_count(run), run.measured.flop_kind, recomputed_of(run, framework));
}

}  // namespace

std::optional<double> flop_of_step(const PublishedRun& run, const RunNames::Framework& framework) {
    const PublishedRun::Model& m = run.model;
    const std::optional<FlopConvention> convention = convention_of(run, framework);
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

/// TFLOP/s of a GPU: as printed, or a share of the peak that the convention names, else of the one that is assumed. 0:
/// neither.
double tflops_per_gpu(const PublishedRun& run, double peak_assumed) {
    const PublishedRun::Measured& measured = run.measured;
    return measured.tflops_per_gpu > 0 ? measured.tflops_per_gpu
                                       : measured.mfu * peak_tflops_in(run.flop_convention).value_or(peak_assumed);
}

/// By all numbers of the source that need no count of FLOP, the most direct first.
std::vector<MeasuredStep> stated_steps(const PublishedRun& run) {
    const PublishedRun::Measured& measured = run.measured;
    const double batch = run.plan.global_batch;
    std::vector<MeasuredStep> steps{
        {measured.step_s, "step"},
        {measured.samples_per_s > 0 ? batch / measured.samples_per_s : 0, "samples/s"},
        {measured.tokens_per_s_per_gpu > 0 ? batch * run.model.sequence / (measured.tokens_per_s_per_gpu * run.gpus)
                                           : 0,
         "tokens/s"}};
    std::erase_if(steps, [](const MeasuredStep& one) { return one.seconds <= 0; });
    return steps;
}

}  // namespace

std::optional<MeasuredStep> measured_step(const PublishedRun& run, const RunNames::Framework& framework,
                                          double peak_assumed) {
    if (std::vector<MeasuredStep> steps = stated_steps(run); !steps.empty()) {
        return std::move(steps.front());
    }
    if (run.measured.derived_step_s > 0) {
        return MeasuredStep{run.measured.derived_step_s, "derived step"};
    }
    constexpr double kTera = 1e12;
    const double tflops = tflops_per_gpu(run, peak_assumed);
    if (const auto flop = tflops > 0 ? flop_of_step(run, framework) : std::nullopt) {
        return MeasuredStep{*flop / (kTera * tflops * run.gpus), kByFlop};
    }
    return std::nullopt;
}

bool lacks_peak(const PublishedRun& run) {
    return stated_steps(run).empty() && run.measured.derived_step_s <= 0 && has_mfu_alone(run.measured) &&
           !peak_tflops_in(run.flop_convention);
}

std::vector<std::string> contradicting_steps(const PublishedRun& run) {
    constexpr double kApart = 0.1;
    std::vector<std::string> notes;
    const std::vector<MeasuredStep> steps = stated_steps(run);
    for (const MeasuredStep& one : steps) {
        if (std::abs(one.seconds / steps.front().seconds - 1) > kApart) {
            notes.push_back("passed over: by the case's " + one.from + " the step would be " +
                            significant(one.seconds) + " s");
        }
    }
    return notes;
}

std::string why_no_step(const PublishedRun& run) {
    const PublishedRun::Measured& measured = run.measured;
    if (measured.tflops_per_gpu <= 0 && measured.mfu <= 0) {
        return "found no time of a step; expected measured.step_time_s, samples_per_s, tokens_per_s_per_gpu or "
               "tflops_per_gpu, above 0";
    }
    if (measured.tflops_per_gpu <= 0 && !peak_tflops_in(run.flop_convention)) {
        return "found an mfu alone, and products that are not in 16 bits; expected the peak that it is a share of in "
               "how_flops_counted (\"peak 1979 TFLOP/s\")";
    }
    if (run.model.heads == 0) {
        return "found FLOP alone; expected model.heads, by which they are counted";
    }
    return "found FLOP alone, counted in a way that is not known: how_flops_counted " +
           json_quote(run.flop_convention) +
           "; expected words as \"model FLOPs\", \"hardware FLOPs\" or \"6 N + 12 L h s\" (docs/validation.md)";
}

std::string words_of_flop(const PublishedRun& run, const RunNames::Framework& framework) {
    const FlopConvention convention = convention_of(run, framework).value_or(FlopConvention{});
    return "the step is by FLOP: " + json_number(convention.passes) + " times the forward pass, " +
           json_number(convention.scores) + " of attention's scores" +
           (words_of_count(run) == run.flop_convention ? ""
            : has_kind(run.measured)                   ? ", assumed of tflops_kind alone"
                                                       : ", assumed of mfu alone");
}

}  // namespace auspex::evaluate
