/// @file From words of cases to keys of workloads and plans.
#include "compare/evaluate/runs/run_inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published_cases.hpp"
#include "compare/evaluate/runs/measured_step.hpp"
#include "compare/evaluate/words/words.hpp"
#include "models/workload.hpp"

namespace auspex::evaluate {
namespace {

/// Megatron's optimizers sum behind the last micro-batch, whatever a paper calls them; FSDP2 with stages keeps weights.
TEST(RunInputs, sharded_gradients_and_weights_with_stages_are_as_the_framework_has_them) {
    const auto optimizer = [](const char* name, const char* zero, const char* pp) {
        PublishedRun run = run_with(kGpt, {{"plan.zero", zero},
                                           {"plan.pp", pp},
                                           {"hardware.gpu", "\"H100\""},
                                           {"framework", std::string("\"") + name + "\""}});
        const RunNames::Framework found = *framework_of(shipped(), run);
        return JsonDocument::parse(run_inputs(run, found).plan, "plan").root().at("optimizer").as_string();
    };
    EXPECT_EQ(optimizer("MegaScale", "2", "16"), "ep-aware");
    EXPECT_EQ(optimizer("Megatron-LM", "\"FSDP (shard_grad_op)\"", "16"), "ep-aware");
    EXPECT_EQ(optimizer("Megatron-Core", "2", "1"), "zero-2");
    EXPECT_EQ(optimizer("Megatron-Core", "3", "1"), "fsdp");
    EXPECT_EQ(optimizer("PyTorch FSDP", "3", "16"), "ep-aware") << "gradients of all but the last are not summed";
    EXPECT_EQ(optimizer("PyTorch FSDP", "3", "1"), "fsdp");
}

TEST(RunInputs, sliding_windows_are_of_all_layers_or_of_some) {
    const auto layers = [](const std::string& window) {
        const PublishedRun run = run_with(kGpt, {{"model.sliding_window", window}});
        const models::Workload found =
            models::load_workload(JsonDocument::parse(run_inputs(run, framework()).workload, "workload"));
        return std::pair(found.window, found.windowed_layers);
    };
    EXPECT_EQ(layers("128"), std::pair(128, 96));
    EXPECT_EQ(layers("\"128 on every layer\""), std::pair(128, 96));
    EXPECT_EQ(layers("\"128 on alternate layers\""), std::pair(128, 48));
    EXPECT_EQ(layers("\"128 on every other layer\""), std::pair(128, 48));
    EXPECT_EQ(layers("\"128 on every second layer\""), std::pair(128, 48));
    EXPECT_EQ(layers("\"1024, 5 of 6 layers\""), std::pair(1024, 80));
    EXPECT_EQ(layers("\"none\""), std::pair(0, 0));
    EXPECT_EQ(layers("\"4096\""), std::pair(0, 0)) << "longer than the sequence";
    EXPECT_THROW(static_cast<void>(layers("\"128 now and then\"")), InputError);
}

TEST(RunInputs, experts_in_every_second_layer_are_half_of_the_layers) {
    const auto dense = [](const char* key, const char* pp) {
        const PublishedRun run = run_with(kMixture, {{key, "2"}, {"plan.pp", pp}});
        return models::load_workload(JsonDocument::parse(run_inputs(run, framework()).workload, "w"))
            .first_dense_layers;
    };
    EXPECT_EQ(dense("model.moe_layer_freq", "1"), 14);
    EXPECT_EQ(dense("model.interleave_moe_layer_step", "1"), 14);
    EXPECT_THROW(static_cast<void>(dense("model.moe_layer_freq", "2")), InputError) << "stages would be unequal";
}

/// Fewer heads of keys and values than tp ranks are copied; tokens are no batch; a kind of FLOP is enough to count
/// them.
TEST(RunInputs, what_is_left_to_the_framework_or_in_another_unit_is_told) {
    const PublishedRun one = run_with(kGpt, {{"model.kv_heads", "1"}});
    const RunInputTexts inputs = run_inputs(one, framework());
    EXPECT_EQ(models::load_workload(JsonDocument::parse(inputs.workload, "w")).kv_heads, 8);
    EXPECT_TRUE(std::ranges::any_of(inputs.notes, [](const std::string& n) { return has(n, "copies of 1"); }));
    EXPECT_THROW(static_cast<void>(run_inputs(run_with(kGpt, {{"plan.global_batch", "4194304"}}), framework())),
                 InputError);
    const PublishedRun kind =
        run_with(kGpt, {{"measured.tflops_per_gpu", "150"}, {"measured.tflops_kind", "\"model\""}});
    ASSERT_TRUE(measured_step(kind, framework()));
    EXPECT_TRUE(has(words_of_flop(kind, framework()), "assumed of tflops_kind alone"));
    EXPECT_FALSE(measured_step(run_with(kGpt, {{"measured.tflops_per_gpu", "150"}}), framework()));
}

/// PURE sums gradients in the weights' 16 bits, DEFAULT in fp32; other words are noted and change nothing.
TEST(RunInputs, composers_mixed_precision_says_what_gradients_are_summed_in) {
    const auto inputs = [](const std::string& mode) {
        return run_inputs(run_with(kGpt, {{"plan.mp_mode", '"' + mode + '"'}}), framework());
    };
    const auto dtype = [&inputs](const std::string& mode) {
        return JsonDocument::parse(inputs(mode).plan, "plan").root().at("gradient_dtype").as_string();
    };
    EXPECT_EQ(dtype("PURE"), "bf16");
    EXPECT_EQ(dtype("DEFAULT"), "fp32");
    EXPECT_EQ(dtype("pure"), "bf16");
    const std::vector<std::string> notes = inputs("FULL").notes;
    EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& n) { return n.starts_with("mp_mode \"FULL\""); }));
}

}  // namespace
}  // namespace auspex::evaluate
