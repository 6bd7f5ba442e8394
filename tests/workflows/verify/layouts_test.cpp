/// @file The layouts that are compared with one rank: what they cover, and the plans that they become.
#include "workflows/verify/layouts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/json.hpp"
#include "models/plan.hpp"
#include "schedule/bindings/bindings.hpp"
#include "workflows/verify/verification.hpp"

namespace auspex::workflows {
namespace {

const std::string kRoot = AUSPEX_SOURCE_DIR;

models::Workload workload_of(VerifyModel model) {
    static const std::map<VerifyModel, std::string> kNames{
        {VerifyModel::kExperts, "toy-moe"},           {VerifyModel::kDense, "toy-dense"},
        {VerifyModel::kGlobalLoss, "toy-moe-global"}, {VerifyModel::kShared, "toy-shared"},
        {VerifyModel::kLatent, "toy-latent"},         {VerifyModel::kGpt, "toy-gpt"},
        {VerifyModel::kGptExperts, "toy-gpt-moe"},    {VerifyModel::kWindowed, "toy-windowed"},
        {VerifyModel::kPredicting, "toy-deepseek"},   {VerifyModel::kCapacity, "toy-capacity"}};
    return models::load_workload(JsonDocument::load(kRoot + "/workloads/" + kNames.at(model) + ".json"));
}

models::Plan plan_of(const VerifyLayout& layout) {
    return resolve_plan(models::load_plan(JsonDocument::parse(layout.plan_text("\"uniform\""), "plan.json")),
                        workload_of(layout.model), 0);
}

bool any(const std::function<bool(const VerifyLayout&)>& is_so) { return std::ranges::any_of(verify_layouts(), is_so); }

TEST(VerifyLayouts, no_two_train_the_same_model_in_the_same_way) {
    std::set<std::string> seen;
    for (const VerifyLayout& layout : verify_layouts()) {
        const std::string all = std::to_string(static_cast<int>(layout.model)) + layout.plan_text("\"uniform\"");
        EXPECT_TRUE(seen.insert(all).second) << layout.grid() << ": " << layout.choices();
    }
    EXPECT_EQ(seen.size(), 166U);  // as docs/training.md says
}

TEST(VerifyLayouts, each_kind_of_parallelism_is_there_alone_and_all_are_there_together) {
    using L = VerifyLayout;
    EXPECT_TRUE(any([](const L& l) { return l.dp > 1 && l.ep * l.tp * l.pp == 1; }));
    EXPECT_TRUE(any([](const L& l) { return l.ep > 1 && l.dp * l.tp * l.pp == 1; }));
    EXPECT_TRUE(any([](const L& l) { return l.tp > 1 && l.dp * l.ep * l.pp == 1; }));
    EXPECT_TRUE(any([](const L& l) { return l.pp > 1 && l.dp * l.ep * l.tp == 1; }));
    EXPECT_TRUE(any([](const L& l) { return l.dp > 1 && l.ep > 1 && l.tp > 1 && l.pp > 1; }));
    EXPECT_TRUE(any([](const L& l) { return l.virtual_stages > 1; }));
    for (const VerifyModel model :
         {VerifyModel::kExperts, VerifyModel::kDense, VerifyModel::kGlobalLoss, VerifyModel::kShared,
          VerifyModel::kLatent, VerifyModel::kGpt, VerifyModel::kGptExperts, VerifyModel::kWindowed,
          VerifyModel::kPredicting, VerifyModel::kCapacity}) {
        EXPECT_TRUE(any([&](const L& l) { return l.model == model; }));
    }
}

TEST(VerifyLayouts, every_choice_is_made_where_it_changes_what_is_done) {
    using L = VerifyLayout;
    for (const std::string schedule : {"gpipe", "1f1b", "interleaved-1f1b"}) {
        EXPECT_TRUE(any([&](const L& l) { return l.pp > 1 && l.schedule == schedule; })) << schedule;
    }
    for (const std::string optimizer : {"replicated", "sharded", "ep-aware"}) {
        EXPECT_TRUE(any([&](const L& l) { return l.dp > 1 && l.ep > 1 && l.optimizer == optimizer; })) << optimizer;
    }
    for (const std::string dispatch : {"alltoall", "allgather-reducescatter"}) {
        for (const std::string kernels : {"loop", "grouped", "fused"}) {
            EXPECT_TRUE(any([&](const L& l) {
                return l.model != VerifyModel::kDense && l.ep > 1 && l.dispatch == dispatch && l.kernels == kernels;
            })) << dispatch
                << " " << kernels;
        }
    }
    for (const auto& [word, part] : models::kRecomputeWords) {
        if (word == "alternate_products") {
            continue;  // not bound
        }
        EXPECT_TRUE(any([&](const L& l) { return std::ranges::find(l.recompute, word) != l.recompute.end(); })) << word;
    }
    for (const bool sliced : {false, true}) {
        EXPECT_TRUE(any([&](const L& l) { return l.tp > 1 && l.sequence_parallel == sliced; })) << sliced;
    }
    for (const std::string optimizer : {"replicated", "sharded", "ep-aware"}) {
        EXPECT_TRUE(any([&](const L& l) { return !l.overlap.empty() && l.dp > 1 && l.optimizer == optimizer; }));
    }
}

TEST(VerifyLayouts, sequences_and_experts_are_split_in_every_way) {
    using L = VerifyLayout;
    for (const std::string context : {"all-gather", "all-to-all", "ring", "two-level"}) {
        EXPECT_TRUE(any([&](const L& l) { return l.cp > 1 && l.context == context && l.tp > 1; })) << context;
        EXPECT_TRUE(any([&](const L& l) { return l.cp == 4 && l.context == context; })) << context;
    }
    EXPECT_TRUE(any([](const L& l) { return l.expert_tp() < l.tp && l.sequence_parallel; }));
    EXPECT_TRUE(any([](const L& l) { return l.expert_tp() < l.tp && !l.sequence_parallel; }));
    EXPECT_TRUE(any([](const L& l) { return l.expert_tp() > l.tp; }));
    EXPECT_TRUE(any([](const L& l) { return l.expert_tp() != l.tp && l.cp > 1; }));
}

// The same eight sequences a step, whoever trains them: else losses could not be compared.
TEST(VerifyLayouts, all_train_the_same_batch_on_the_ranks_that_they_name) {
    for (const VerifyLayout& layout : verify_layouts()) {
        SCOPED_TRACE(layout.grid() + ": " + layout.choices());
        EXPECT_GE(layout.ranks(), 2);
        EXPECT_LE(layout.ranks(), 16);
        const models::Plan plan = plan_of(layout);
        EXPECT_EQ(tiles_of(plan), layout.ranks());
        EXPECT_EQ(plan.micro_batch_size * plan.micro_batches * plan.dp * plan.ep * plan.etp / (plan.tp * plan.cp), 8);
    }
}

TEST(VerifyLayouts, plans_say_what_the_layout_says) {
    for (const VerifyLayout& layout : verify_layouts()) {
        SCOPED_TRACE(layout.grid() + ": " + layout.choices());
        const models::Plan plan = plan_of(layout);
        EXPECT_EQ(plan.dp, layout.dp);
        EXPECT_EQ(plan.ep, layout.ep);
        EXPECT_EQ(plan.tp, layout.tp);
        EXPECT_EQ(plan.pp, layout.pp);
        EXPECT_EQ(plan.etp, layout.expert_tp());
        EXPECT_EQ(plan.cp, layout.cp);
        EXPECT_EQ(to_string(plan.context), std::string(layout.context));
        EXPECT_EQ(plan.context_all_to_all, layout.context_all_to_all);
        EXPECT_EQ(plan.virtual_stages, layout.virtual_stages);
        EXPECT_EQ(plan.sequence_parallel, layout.sequence_parallel);
        EXPECT_EQ(to_string(plan.schedule), std::string(layout.schedule));
        EXPECT_EQ(to_string(plan.optimizer), std::string(layout.optimizer));
        EXPECT_EQ(to_string(plan.dispatch), std::string(layout.dispatch));
        EXPECT_EQ(to_string(plan.expert_kernels), std::string(layout.kernels));
        EXPECT_EQ(plan.weight_bytes, 4);
        EXPECT_EQ(plan.gradient_bytes, 4);
        EXPECT_EQ(
            std::ranges::count_if(models::kRecomputeWords, [&](const auto& word) { return plan.recompute.*word.part; }),
            static_cast<std::ptrdiff_t>(layout.recompute.size()));
        EXPECT_EQ(plan.overlap_dp + plan.overlap_pp, static_cast<int>(layout.overlap.size()));
    }
}

TEST(VerifyLayouts, the_trainer_runs_all_of_them) {
    const models::Machine machine = models::load_machine(JsonDocument::load(kRoot + "/machines/aurora.json"));
    const models::Stack stack = models::load_stack(JsonDocument::load(kRoot + "/stacks/auspex.json"));
    for (const VerifyLayout& layout : verify_layouts()) {
        const models::Workload workload = workload_of(layout.model);
        const models::Plan plan = plan_of(layout);
        const schedule::Program program =
            schedule::build_program(workload, plan, stack, make_layout(plan, machine, tiles_of(plan)));
        EXPECT_EQ(unbound_operations(workload, plan, stack, program), std::vector<std::string>{}) << layout.grid();
        EXPECT_EQ(schedule::refused_settings(workload, plan, stack), std::vector<std::string>{}) << layout.grid();
    }
}

TEST(VerifyLayouts, a_request_takes_the_first_ones_that_have_no_more_ranks_than_it_allows) {
    const auto grids = [](const std::vector<VerifyLayout>& layouts) {
        std::vector<std::string> texts;
        for (const VerifyLayout& layout : layouts) {
            texts.push_back(layout.grid() + ": " + layout.choices());
        }
        return texts;
    };
    const auto wanted = [](int max_ranks, int layouts) {
        VerifyRequest request;
        request.max_ranks = max_ranks, request.layouts = layouts;
        return wanted_layouts(request);
    };
    const std::vector<std::string> all = grids(verify_layouts());
    EXPECT_EQ(grids(wanted(16, 0)), all);
    EXPECT_EQ(grids(wanted(16, 3)), std::vector<std::string>(all.begin(), all.begin() + 3));
    EXPECT_EQ(grids(wanted(16, 1000)), all);
    EXPECT_TRUE(wanted(1, 0).empty());
    std::vector<std::string> small;
    for (const VerifyLayout& layout : verify_layouts()) {
        if (layout.ranks() <= 4) {
            small.push_back(layout.grid() + ": " + layout.choices());
        }
    }
    ASSERT_GT(small.size(), 5U);
    EXPECT_EQ(grids(wanted(4, 0)), small);
    EXPECT_EQ(grids(wanted(4, 5)), std::vector<std::string>(small.begin(), small.begin() + 5));
}

TEST(VerifyLayouts, names_hold_what_is_more_than_one_and_what_has_an_effect) {
    VerifyLayout layout;
    EXPECT_EQ(layout.grid(), "one rank");
    EXPECT_EQ(layout.choices(), "grouped");
    layout.tp = 4, layout.sequence_parallel = true, layout.pp = 2, layout.virtual_stages = 3;
    layout.recompute = {"norm", "expert"};
    EXPECT_EQ(layout.grid(), "tp 4 sliced, pp 2 x 3");
    EXPECT_EQ(layout.choices(), "1f1b, grouped, recompute norm, expert");
    layout.dp = 2, layout.ep = 8, layout.dispatch = "allgather-reducescatter";
    EXPECT_EQ(layout.grid(), "dp 2, ep 8, tp 4 sliced, pp 2 x 3");
    EXPECT_EQ(layout.choices(), "1f1b, all-gather, grouped, sharded, recompute norm, expert");
    layout.model = VerifyModel::kDense;
    EXPECT_EQ(layout.choices(), "1f1b, sharded, recompute norm, expert");
    layout.etp = 2, layout.cp = 4, layout.context = "ring";
    EXPECT_EQ(layout.grid(), "dp 2, ep 8, tp 4 sliced, etp 2, cp 4, pp 2 x 3");
    EXPECT_EQ(layout.choices(), "1f1b, ring, sharded, recompute norm, expert");
}

}  // namespace
}  // namespace auspex::workflows
