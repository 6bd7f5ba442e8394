/// @file A step's time by what a source prints, and FLOP by its convention.
#include "compare/evaluate/runs/measured_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "compare/evaluate/published_cases.hpp"
#include "compare/evaluate/words/flop_convention.hpp"

namespace auspex::evaluate {
namespace {

/// 72 B s L h^2 (1 + s / (6 h) + V / (12 L h)) without, 96 B s L h^2 (1 + s / (6 h) + V / (16 L h)) with recomputation.
TEST(MeasuredStep, flop_follow_the_conventions_of_their_sources) {
    const double base = 1536.0 * 2048 * 96 * 12288 * 12288;
    const double whole = 72 * base * (1 + 2048.0 / (6 * 12288) + 51200.0 / (12.0 * 96 * 12288));
    const PublishedRun plain = run_with(kGpt, {{"how_flops_counted", "model FLOPs per Megatron formula, peak 989"}});
    EXPECT_NEAR(*flop_of_step(plain, framework()) / whole, 1, 1e-12);
    const double again = 96 * base * (1 + 2048.0 / (6 * 12288) + 51200.0 / (16.0 * 96 * 12288));
    const PublishedRun redone = run_with(kGpt, {{"how_flops_counted", "F=96*B*s*l*h^2*(1+s/(6h)+V/(16lh))"}});
    EXPECT_NEAR(*flop_of_step(redone, framework()) / again, 1, 1e-12);
    // Grouped queries and SwiGLU: (1 + kv / heads + 1.5 ffn / h + s / h + V / (2 L h)) in place of 6 and the rest.
    const PublishedRun llama = run_with(
        kGpt, {{"how_flops_counted", "Megatron formula"}, {"model.kv_heads", "8"}, {"model.activation", "swiglu"}});
    const double parts = 1 + 8.0 / 96 + 1.5 * 4 + 2048.0 / 12288 + 51200.0 / (2.0 * 96 * 12288);
    EXPECT_NEAR(*flop_of_step(llama, framework()) / (12 * base * parts), 1, 1e-12);
    EXPECT_FALSE(flop_of_step(run_with(kGpt, {{"how_flops_counted", "as we like"}}), framework()));
}

/// 6 B s (L (4 h^2 + m K f h) + V h) with m = 2 matrices an expert, or 3; 6 B s L 2 s h more where attention counts.
TEST(MeasuredStep, flop_of_mixtures_are_those_of_the_experts_that_a_token_meets) {
    const double h = 2048, s = 2048, tokens = 8192 * s;
    const auto expected = [&](double matrices) {
        return 6 * tokens * (28 * (4 * h * h + matrices * 6 * 1408 * h) + 50304 * h);
    };
    EXPECT_NEAR(*flop_of_step(run_with(kMixture, {}), framework()) / expected(3), 1, 1e-12);
    const PublishedRun whole = run_with(kMixture, {{"how_flops_counted", "active-parameter FLOPs, with attention"}});
    EXPECT_NEAR(*flop_of_step(whole, framework()) / (expected(3) + 6 * tokens * 28 * 2 * s * h), 1, 1e-12);
    const PublishedRun plain = run_with(kMixture, {{"model.activation", "\"gelu\""}});
    EXPECT_NEAR(*flop_of_step(plain, framework()) / expected(2), 1, 1e-12);
    EXPECT_NEAR(measured_step(plain, framework())->seconds, expected(2) / (256 * 40e12), 1e-9);
    EXPECT_FALSE(flop_of_step(run_with(kMixture, {{"how_flops_counted", "TFLOPs"}}), framework()));
}

TEST(MeasuredStep, what_the_source_prints_comes_before_what_is_derived) {
    const auto from = [](const std::string& measured) {
        return measured_step(run_with(kGpt, {{"measured", measured}, {"derived", R"({"step_time_s": 9})"}}),
                             framework());
    };
    EXPECT_EQ(from(R"({"step_time_s": 5, "samples_per_s": 1})")->seconds, 5);
    EXPECT_EQ(from(R"({"samples_per_s": 512, "tokens_per_s_per_gpu": 1})")->seconds, 3);
    EXPECT_EQ(from(R"({"tokens_per_s_per_gpu": 768})")->seconds, 1536.0 * 2048 / (768 * 1024));
    EXPECT_EQ(from("{}")->from, "derived step");
    EXPECT_FALSE(measured_step(run_with(kGpt, {}), framework()));
    const PublishedRun flop = run_with(
        kGpt, {{"measured", R"({"tflops_per_gpu": 140})"}, {"how_flops_counted", "F=96*B*s*l*h^2*(1+s/(6h))"}});
    EXPECT_NEAR(measured_step(flop, framework())->seconds, *flop_of_step(flop, framework()) / (140e12 * 1024), 1e-9);
}

/// Passes of layers and head, and share of the scores, in percent.
std::string convention(const std::string& how, const std::string& kind = "",
                       RecomputedShare recomputed = {.layers = 1}) {
    const std::optional<FlopConvention> c = flop_convention_of(how, kind, recomputed);
    const auto number = [](double v) { return std::to_string(static_cast<int>(std::lround(100 * v))); };
    return c ? number(c->passes) + " " + number(c->head_passes) + " " + number(c->scores) : "unknown";
}

TEST(FlopConvention, terms_have_coefficients) {
    for (const char* const whole :
         {"6*N*tokens + 12*L*H*s", "6 N + 12 L d s per token", "6\u00b7N + 12\u00b7L\u00b7h\u00b7s",
          "(6N + 12*L*d_model*seq)", "6*(N - N_embed) + 12*L*H*head_dim*seq, recompute excluded",
          "PaLM-style MFU (6N+12LHQT)", "6 x N + 12 s h L", "6N + 12*n_layers*d_model*seq_len",
          "6ND + 12*seq*hidden*layers", "72*B*s*l*h^2*(1 + s/(6h))", "72 B s l h\u00b2", "6N + 12*L*H*s, causal LM",
          "6N + 12LHQT, half precision", "8 layers: 6N + 12 L h s"}) {
        EXPECT_EQ(convention(whole), "300 300 100") << whole;
    }
    EXPECT_EQ(convention("6N + 6*L*H*s"), "300 300 50");
    EXPECT_EQ(convention("model FLOPs; causal attention, i.e. half of 12*L*H*seq"), "300 300 50");
    EXPECT_EQ(convention("8N + 16*L*h*s"), "400 400 100");
    for (const char* const without :
         {"6N", "6ND", "6NT", "6*N*D (N=8e9)", "6 N_active", "6N, N=72B", "6*(N-N_embed) per token"}) {
        EXPECT_EQ(convention(without), "300 300 0") << without;
    }
    EXPECT_EQ(convention("8N"), "400 400 0");
    EXPECT_EQ(convention("F=96*B*s*l*h^2*(1+s/(6h)+V/(16lh)): hardware FLOPs"), "400 300 100");
    EXPECT_EQ(convention("96 L h^2 (1 + s/(6h))"), "400 300 100");
}

TEST(FlopConvention, numbers_in_front_of_other_words_are_no_coefficients) {
    for (const char* const model :
         {"model FLOPs, peak 989 (no sparsity)", "MFU, peak 312 not 624", "model FLOPs, seq 8192 (no recompute)",
          "model FLOPs on 8 NVL72 racks", "model FLOPs, 8 NICs a node", "MFU, 8 new runs", "model FLOPs on 96 B200s",
          "table 4 lists model FLOPs", "model FLOPs, Table 3 (last column)", "model FLOPs of 8 Llama runs",
          "MFU as logged by NeMo 2 (logging callback)", "model FLOPs of Llama 3 large"}) {
        EXPECT_EQ(convention(model), "300 300 100") << model;
    }
    EXPECT_EQ(convention("hardware FLOPs of a 72B model"), "400 400 100");
    for (const char* const unknown : {"", "n/a", "TFLOPs", "as we like", "not stated; taken as model FLOP",
                                      "TFLOPs of a 72B model", "as for Qwen 72B", "TFLOPs, batch 96 (large)",
                                      "MFU = model FLOPs; HFU = hardware FLOPs", "6N(1+s/6h)", "GFLOP/token"}) {
        EXPECT_EQ(convention(unknown), "unknown") << unknown;
    }
}

TEST(FlopConvention, clauses_say_whether_attention_counts) {
    for (const char* const whole :
         {"model FLOPs", "MFU, peak 989", "Megatron formula", "6ND plus attention", "6N + attention",
          "6ND non-causal attention", "model FLOPs, no attention recomputation", "model FLOPs without flash attention",
          "MFU, non-flash attention", "model FLOPs in half precision", "half-precision MFU",
          "model FLOPs of a causal language model", "causal LM; model FLOPs, attention whole",
          "full attention (causal mask not exploited); model FLOPs", "active-parameter FLOPs, with attention"}) {
        EXPECT_EQ(convention(whole), "300 300 100") << whole;
    }
    for (const char* const half : {"model FLOPs, attention causal", "model FLOPs, causal attention (half)",
                                   "6ND, causal attention counted half", "6N including causal attention"}) {
        EXPECT_EQ(convention(half), "300 300 50") << half;
    }
    for (const char* const without :
         {"active-parameter FLOPs", "model FLOPs without attention", "6*N*tokens, no attention",
          "model FLOPs w/o attention", "model FLOPs (attention excluded)", "6N (attention not counted)",
          "6N, attention FLOPs not included", "model FLOPs, attention is ignored", "model FLOPs, excludes attention",
          "model FLOPs, excl. attention", "model FLOPs; self-attention omitted", "6N; attention neglected",
          "6N; the quadratic attention term is left out", "6N, flash attention used", "6ND; FlashAttention-2",
          "6N; grouped-query attention model", "6N, incl. attention projections",
          "active-parameter FLOPs incl. attention parameters"}) {
        EXPECT_EQ(convention(without), "300 300 0") << without;
    }
}

TEST(FlopConvention, hardware_flop_are_of_what_the_run_makes_again) {
    for (const char* const again :
         {"8*N*tokens + attention", "hardware FLOPs", "HFU", "Megatron-DeepSpeed formula (factor 4)",
          "Megatron formula incl. recompute", "Megatron-LM formula including recomputation"}) {
        EXPECT_EQ(convention(again), "400 400 100") << again;
    }
    EXPECT_EQ(convention("hardware FLOPs", "", {}), "300 300 100");
    EXPECT_EQ(convention("HFU", "", {.scores = true}), "300 300 133");
    const std::string both = "MFU: (6N + 12*L*d*seq) per token, excl. recompute; HFU multiplies by 4/3";
    EXPECT_EQ(convention(both, "model"), "300 300 100");
    EXPECT_EQ(convention(both, "hardware (with recompute)"), "400 400 100");
    EXPECT_EQ(convention("model FLOPs (no recompute)"), "300 300 100");
    const auto of = [](const std::string& recompute) {
        const PublishedRun run = run_with(
            kGpt,
            {{"how_flops_counted", "HFU"}, {"plan.recompute", recompute.empty() ? "null" : json_quote(recompute)}});
        return *flop_of_step(run, framework());
    };
    const double once = of("none"), scores = 96.0 * 12288 * 2 * 2048 * 2 * 3 * 1536 * 2048;
    EXPECT_NEAR(of("full") / once, 4.0 / 3, 1e-12);
    EXPECT_EQ(of(""), once);
    EXPECT_EQ(of("layernorm"), once);
    EXPECT_EQ(of("not stated"), once);
    EXPECT_NEAR((of("selective") - once) / scores, 1.0 / 3, 1e-9);
    EXPECT_NEAR(of("activation checkpointing") / once, 4.0 / 3, 1e-12);
    EXPECT_NEAR(of("block 1") / once, 1 + 1.0 / (3 * 2), 1e-12);  // of two layers of a stage
}

TEST(FlopConvention, a_peak_is_one_number_of_tflop) {
    EXPECT_EQ(peak_tflops_in("A100 peak 312 TFLOP/s"), 312);
    EXPECT_EQ(peak_tflops_in("peak ~298 TFLOP/s per tile"), 298);
    EXPECT_EQ(peak_tflops_in("MFU, peak of bf16 989.4 TFLOP/s"), 989.4);
    EXPECT_EQ(peak_tflops_in("MFU, peak 1,979"), 1979);
    for (const char* const none : {"MFU", "MFU, peak 0.989 PFLOP/s", "MFU, peak 2 x 989", "peak 989e12",
                                   "peak 9.89e14 FLOP/s", "MFU peaked at iteration 90", "MFU, peak memory 60 GiB",
                                   "peak (312 TFLOPS for A100, 989 for H100)", "peak not stated, 32 layers"}) {
        EXPECT_FALSE(peak_tflops_in(none)) << none;
    }
}

TEST(MeasuredStep, a_share_of_a_stated_peak_is_a_rate) {
    const PublishedRun run =
        run_with(kGpt, {{"measured", R"({"mfu": 0.5})"}, {"how_flops_counted", "MFU, A100 peak ~312 TFLOP/s"}});
    EXPECT_NEAR(measured_step(run, framework())->seconds, *flop_of_step(run, framework()) / (156e12 * 1024), 1e-9);
    EXPECT_FALSE(
        measured_step(run_with(kGpt, {{"measured", R"({"mfu": 0.5})"}, {"how_flops_counted", "MFU"}}), framework()));
}

TEST(MeasuredStep, what_is_missing_is_named) {
    const auto why = [](const std::string& measured, const std::string& how) {
        return why_no_step(run_with(kGpt, {{"measured", measured}, {"how_flops_counted", json_quote(how)}}));
    };
    EXPECT_NE(why("{}", "").find("no time of a step; expected measured.step_time_s"), std::string::npos);
    EXPECT_NE(why(R"({"tflops_per_gpu": 100})", "so").find("not known: how_flops_counted \"so\""), std::string::npos);
    EXPECT_NE(why(R"({"mfu": 0.4})", "MFU").find("expected the peak"), std::string::npos);
    EXPECT_NE(run_with(kGpt, {{"measured", R"({"mfu": 40})"}}).unreadable.find("measured.mfu"), std::string::npos);
}

/// 1,536 sequences in 100 s, or at 30 a second 51.2 s; 1,536 x 2,048 tokens at 30 a second on each of 1,024 GPUs 102.4.
TEST(MeasuredStep, numbers_that_say_another_step_are_told) {
    const auto notes = [](const char* measured) {
        return contradicting_steps(run_with(kGpt, {{"measured", measured}}));
    };
    const PublishedRun run = run_with(kGpt, {});
    ASSERT_EQ(run.plan.global_batch * run.model.sequence, 1536 * 2048);
    ASSERT_EQ(run.gpus, 1024);
    EXPECT_EQ(notes(R"({"step_time_s": 100, "samples_per_s": 30, "tokens_per_s_per_gpu": 30})"),
              std::vector<std::string>{"passed over: by the case's samples/s the step would be 51.2 s"});
    EXPECT_TRUE(notes(R"({"step_time_s": 100, "tokens_per_s_per_gpu": 30})").empty());
    EXPECT_TRUE(notes(R"({"tokens_per_s_per_gpu": 30, "tflops_per_gpu": 1})").empty());
    EXPECT_TRUE(notes("{}").empty());
}

/// GPT's four, where nothing says that there is a gate.
TEST(MeasuredStep, an_inner_width_that_is_not_said_is_four_times_the_hidden_size) {
    EXPECT_EQ(run_with(kGpt, {{"model.ffn", "null"}}).model.ffn, 4 * 12288);
    EXPECT_TRUE(run_with(kGpt, {{"model.ffn", "null"}}).model.is_ffn_assumed);
    EXPECT_EQ(run_with(kGpt, {{"model.ffn", "null"}, {"model.activation", "swiglu"}}).model.ffn, 0);
    EXPECT_FALSE(run_with(kGpt, {}).model.is_ffn_assumed);
}

/// Sources that print both TFLOP/s and a time: FLOP = TFLOP/s x GPUs x time. The exceptions: gpt-oss, of which two of
/// three matrices are counted, and DeepSeek-V3, of which a layer more is.
TEST(MeasuredStep, flop_and_times_of_published_runs_agree) {
    int checked = 0;
    for (const char* const file : {"a100", "aurora", "h100", "lumi"}) {
        const std::string path = std::string(AUSPEX_SOURCE_DIR) + "/tests/published/runs/" + file + ".json";
        for (const PublishedRun& run : load_published_runs(JsonDocument::load(path))) {
            const RunNames::Framework own = framework_of(shipped(), run).value();
            const std::optional<double> flop = flop_of_step(run, own);
            const std::optional<MeasuredStep> step = measured_step(run, own);
            if (run.measured.tflops_per_gpu == 0 || !flop || step->from == kByFlop) {
                continue;
            }
            ++checked;
            const bool is_odd = run.model.name == "gpt-oss-120b" || run.model.name == "deepseek-v3";
            const double counted = run.measured.tflops_per_gpu * 1e12 * run.gpus * step->seconds;
            EXPECT_NEAR(*flop / counted, 1, is_odd ? 0.28 : 0.025) << run.id << ": " << run.flop_convention;
        }
    }
    EXPECT_GT(checked, 90);
}

}  // namespace
}  // namespace auspex::evaluate
