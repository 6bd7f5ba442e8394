/// @file What cases leave open: micro-batches, recomputation, sharded states, layers in host memory.
#include "compare/evaluate/runs/run_choices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published_cases.hpp"
#include "compare/evaluate/runs/run_inputs.hpp"
#include "models/plan.hpp"

namespace auspex::evaluate {
namespace {

models::Plan plan_of(const PublishedRun& run) {
    return models::load_plan(JsonDocument::parse(run_inputs(run, framework()).plan, "plan"));
}

/// "2: norm+activation" for micro-batches of 2; "2" where the run says what is recomputed, or the framework does.
std::vector<std::string> choices_of(const PublishedRun& run, const RunNames::Framework& f) {
    std::vector<std::string> found;
    for (const std::vector<PublishedRun>& of_size : open_choices(run, f)) {
        for (const PublishedRun& choice : of_size) {
            std::string words;
            for (const std::string& word : choice.plan.recompute_choice.value_or(std::vector<std::string>{})) {
                words += (words.empty() ? "" : "+") + word;
            }
            found.push_back(std::to_string(choice.plan.micro_batch) +
                            (choice.plan.recompute_choice ? ": " + words : ""));
        }
    }
    return found;
}

using Choices = std::vector<std::string>;
using Values = std::vector<std::pair<std::string, std::string>>;

TEST(RunChoices, micro_batches_that_are_not_stated_are_tried_or_as_the_framework_has_them) {
    RunNames::Framework f = framework();
    // 1,024 GPUs, tp 8 and pp 16: 8 replicas, 192 sequences each; 180 of 1,440 are no multiple of 8.
    const PublishedRun unstated = run_with(kGpt, {{"plan.micro_batch", "null"}});
    EXPECT_EQ(choices_of(unstated, f), (Choices{"1", "2", "4", "8"}));
    EXPECT_EQ(choices_of(run_with(kGpt, {{"plan.micro_batch", "null"}, {"plan.global_batch", "1440"}}), f),
              (Choices{"1", "2", "4"}));
    EXPECT_EQ(choices_of(run_with(kGpt, {{"plan.micro_batch", "3"}}), f), (Choices{"3"}));
    // 192 sequences in 96 micro-batches are 2 each: one of the two numbers is wrong.
    EXPECT_EQ(choices_of(run_with(kGpt, {{"plan.micro_batch", "3"}, {"plan.ga", "96"}}), f), (Choices{"3", "2"}));
    EXPECT_EQ(choices_of(run_with(kGpt, {{"plan.micro_batch", "2"}, {"plan.ga", "96"}}), f), (Choices{"2"}));
    f.micro_batch_per_stage = true;
    EXPECT_EQ(choices_of(unstated, f), (Choices{"12"}));  // 192 over 16 stages
}

TEST(RunChoices, recomputation_that_is_not_stated_is_tried_the_cheapest_first) {
    RunNames::Framework f = framework();
    const PublishedRun recipe = run_with(kGpt, {{"plan.recompute", R"("see recipe")"}});
    EXPECT_EQ(choices_of(recipe, f), (Choices{"1: ", "1: core_attention", "1: layer"}));
    EXPECT_EQ(notes_of_choice(recipe, open_choices(recipe, f)[0][2]),
              std::vector<std::string>{"recompute layer is assumed"});
    EXPECT_THROW(static_cast<void>(load_run_names(JsonDocument::parse(
                     R"({"hardware": [], "fitted": [], "frameworks": [{"name": "a", "texts": ["a"], "stack": "s",
                         "plan": {"gradient_dtype": "fp32", "expert_kernels": "grouped", "dispatch": "alltoall",
                                  "recompute_unstated": "none", "recompute_choices": [["activations"]]}}]})",
                     "names"))),
                 InputError);
    // No latents here and no shared experts: what is left of a choice that names them is there already.
    f.recompute_choices = {{"activation"}, {"activation", "latent_up", "shared_experts"}, {"expert", "norm"}};
    EXPECT_EQ(choices_of(recipe, f), (Choices{"1: activation", "1: expert+norm"}));
    const std::string plan = run_inputs(open_choices(recipe, f)[0][1], f).plan;
    EXPECT_TRUE(models::load_plan(JsonDocument::parse(plan, "plan")).recompute.expert);
    EXPECT_EQ(notes_of_choice(recipe, open_choices(recipe, f)[0][1]),
              std::vector<std::string>{"recompute feed-forward, norm is assumed"});
    f.recompute_unstated = "full";
    EXPECT_EQ(choices_of(recipe, f), (Choices{"1"}));
}

TEST(RunChoices, activations_may_be_in_host_memory_where_there_are_no_stages) {
    RunNames::Framework f = framework();
    const Values open{{"plan.pp", "1"}, {"plan.zero", R"("fsdp")"}, {"plan.recompute", R"("see recipe")"}};
    const PublishedRun dense = run_with(kGpt, open);
    EXPECT_EQ(open_choices(dense, f).size(), 1U);
    f.offloads = true;
    const std::vector<std::vector<PublishedRun>> choices = open_choices(dense, f);
    ASSERT_EQ(choices.size(), 2U);
    ASSERT_EQ(choices[1].size(), 7U);
    for (int part = 1; part < 8; ++part) {
        const PublishedRun& one = choices[1][static_cast<std::size_t>(part - 1)];
        const int layers = dense.model.layers * part / 8;
        EXPECT_EQ(plan_of(one).offload_layers, layers);
        EXPECT_FALSE(plan_of(one).recompute.core_attention || plan_of(one).recompute.layer);
        EXPECT_EQ(notes_of_choice(dense, one),
                  std::vector<std::string>{"recompute none is assumed, activations of " + std::to_string(layers) +
                                           " layers in host memory"});
    }
    for (const auto& [key, value] :
         Values{{"plan.pp", "2"}, {"plan.zero", R"("1")"}, {"plan.recompute", R"("full")"}, {"model.experts", "8"}}) {
        Values other = open;
        other.emplace_back(key, value);
        EXPECT_EQ(open_choices(run_with(kGpt, other), f).size(), 1U) << key;
    }
    Values few = open;
    few.emplace_back("model.layers", "3");
    EXPECT_EQ(open_choices(run_with(kGpt, few), f)[1].size(), 2U) << "1 and 2 of 3";
}

// Whole states, then sharded ones, then these with recomputation.
TEST(RunChoices, states_are_sharded_where_no_one_says_and_whole_ones_do_not_fit) {
    const RunNames::Framework f = framework();
    ASSERT_EQ(f.optimizer_unstated, "replicated");
    const PublishedRun unstated = run_with(kGpt, {{"plan.zero", "null"}, {"plan.recompute", R"("see recipe")"}});
    EXPECT_EQ(choices_of(unstated, f), (Choices{"1: ", "1: ", "1: core_attention", "1: layer"}));
    const std::vector<PublishedRun> choices = open_choices(unstated, f)[0];
    const auto has_note = [](const RunInputTexts& inputs, const std::string& note) {
        return std::ranges::find(inputs.notes, note) != inputs.notes.end();
    };
    EXPECT_TRUE(has_note(run_inputs(choices[0], f), "optimizer replicated is assumed"));
    EXPECT_EQ(plan_of(choices[0]).optimizer, models::OptimizerSharding::kReplicated);
    for (std::size_t i = 1; i < choices.size(); ++i) {
        EXPECT_TRUE(has_note(run_inputs(choices[i], f),
                             "optimizer sharded is assumed: whole states have no room with nothing recomputed"));
        EXPECT_EQ(plan_of(choices[i]).optimizer, models::OptimizerSharding::kSharded);
    }
    EXPECT_EQ(choices_of(run_with(kGpt, {{"plan.zero", "null"}, {"gpus", "128"}}), f).size(), 1U) << "no replicas";
    for (const char* const stated : {"0", "none", "ddp", "1", "3"}) {
        const PublishedRun one = run_with(kGpt, {{"plan.zero", json_quote(stated)}});
        EXPECT_EQ(open_choices(one, f)[0].size(), 1U) << stated;
    }
}

}  // namespace
}  // namespace auspex::evaluate
