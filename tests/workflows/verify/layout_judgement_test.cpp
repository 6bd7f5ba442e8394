/// @file Hand-made runs of a layout and of one rank: what is within what is allowed, and what is not.
#include "workflows/verify/layout_judgement.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "run_fixture.hpp"

namespace auspex::workflows {
namespace {

using Judge = std::function<void(const launch::TrainResult&, report::LayoutCheck&)>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

launch::TrainResult single_run() {
    launch::TrainResult run = run_with_losses(std::vector<double>{6, 5, 4, 3});
    const double gradient_norms[] = {2, 2, 1, 1};
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
        run.steps[i].gradient_norm = gradient_norms[i];
    }
    return run;
}

/// Does the run pass after the change?
bool passes(const Judge& judge, const std::function<void(launch::TrainResult&)>& change) {
    launch::TrainResult run = single_run();
    change(run);
    report::LayoutCheck check;
    judge(run, check);
    return check.passed();
}

/// What fails whatever runs are compared: a loss that is further off than is allowed, that is no number, or missing.
void expect_losses_are_guarded(const Judge& judge, double allowed) {
    EXPECT_TRUE(passes(judge, [](launch::TrainResult&) {}));
    for (const std::size_t step : {0U, 3U}) {
        for (const double sign : {-1.0, 1.0}) {
            const auto off_by = [&](double part) {
                return [=](launch::TrainResult& run) { run.steps[step].loss *= 1 + sign * part * allowed; };
            };
            EXPECT_TRUE(passes(judge, off_by(0.99))) << step;
            EXPECT_FALSE(passes(judge, off_by(1.01))) << step;
        }
        EXPECT_FALSE(passes(judge, [=](launch::TrainResult& run) { run.steps[step].loss = kNan; })) << step;
    }
    EXPECT_FALSE(passes(judge, [](launch::TrainResult& run) { run.steps.pop_back(); }));
    EXPECT_FALSE(passes(judge, [](launch::TrainResult& run) { run.steps.push_back({.step = 4, .loss = 2, .gradient_norm = 1}); }));
    EXPECT_FALSE(passes(judge, [](launch::TrainResult& run) { run.steps.clear(); }));
}

TEST(LayoutJudgement, forced_losses_are_within_1e_5_of_one_ranks) {
    expect_losses_are_guarded([](const auto& run, auto& check) { judge_forced(run, single_run(), check); }, 1e-5);
}

TEST(LayoutJudgement, replayed_losses_are_within_1e_5_of_one_ranks) {
    expect_losses_are_guarded([](const auto& run, auto& check) { judge_replayed(run, single_run(), check); }, 1e-5);
}

TEST(LayoutJudgement, norms_of_gradients_are_within_1e_4_of_one_ranks) {
    const Judge judge = [](const auto& run, auto& check) { judge_forced(run, single_run(), check); };
    EXPECT_TRUE(passes(judge, [](launch::TrainResult& run) { run.steps[1].gradient_norm *= 1 + 0.99e-4; }));
    EXPECT_FALSE(passes(judge, [](launch::TrainResult& run) { run.steps[1].gradient_norm *= 1 + 1.01e-4; }));
    EXPECT_FALSE(passes(judge, [](launch::TrainResult& run) { run.steps[1].gradient_norm = kNan; }));
    EXPECT_FALSE(passes(judge, [](launch::TrainResult& run) { run.steps.pop_back(); }));
}

/// Four steps of one layer, two tokens, one of four experts each.
models::RoutingRecord record() {
    models::RoutingRecord record;
    record.steps = 4, record.layers = 1, record.tokens = 2, record.top_k = 1, record.num_experts = 4;
    record.choices = {0, 1, 2, 3, 0, 1, 2, 3};
    return record;
}

TEST(LayoutJudgement, learned_losses_are_within_1e_4_while_choices_are_the_same) {
    expect_losses_are_guarded(
        [](const auto& run, auto& check) {
            judge_learned(run, record(), single_run(), record(), check);
            EXPECT_EQ(check.first_choice, "none");
            EXPECT_FALSE(check.first_step);
        },
        1e-4);
}

TEST(LayoutJudgement, learned_losses_are_not_compared_from_the_first_other_choice_on) {
    models::RoutingRecord other = record();
    other.choices[2 * 2 + 1] = 3;  // step 2, token 1
    const Judge judge = [&](const auto& run, auto& check) {
        judge_learned(run, other, single_run(), record(), check);
        EXPECT_EQ(check.first_step, 2);
        EXPECT_EQ(check.first_choice, "step 2, layer 0, token 1");
    };
    EXPECT_TRUE(passes(judge, [](launch::TrainResult& run) { run.steps[2].loss = run.steps[3].loss = 1; }));
    EXPECT_FALSE(passes(judge, [](launch::TrainResult& run) { run.steps[1].loss *= 1 + 1.01e-4; }));
    EXPECT_FALSE(passes(judge, [](launch::TrainResult& run) { run.steps.pop_back(); })) << "a step is missing";
}

TEST(LayoutJudgement, optimizers_are_compared_between_layouts_that_differ_in_nothing_else) {
    const auto layout_of = [](const char* optimizer, const std::function<void(VerifyLayout&)>& change = {}) {
        VerifyLayout layout;
        layout.dp = layout.ep = layout.tp = 2, layout.optimizer = optimizer, layout.recompute = {"norm"};
        if (change) {
            change(layout);
        }
        return ShardedLayout{layout, {layout.grid(), optimizer, 100, 100}};
    };
    const auto count = [&](const std::vector<ShardedLayout>& layouts) { return plain_and_ep_aware(layouts).size(); };
    const ShardedLayout plain = layout_of("sharded"), aware = layout_of("ep-aware");
    const auto pair = plain_and_ep_aware({aware, layout_of("replicated"), plain});
    ASSERT_EQ(pair.size(), 2U);
    EXPECT_EQ(pair[0].sharding, "sharded");
    EXPECT_EQ(pair[1].sharding, "ep-aware");
    EXPECT_EQ(count({plain, layout_of("replicated")}), 0U);
    EXPECT_EQ(count({plain, plain}), 0U);
    using L = VerifyLayout;
    for (const std::function<void(L&)>& change : std::vector<std::function<void(L&)>>{
             [](L& l) { l.dp = 1; }, [](L& l) { l.tp = 1; }, [](L& l) { l.pp = 2; },
             [](L& l) { l.sequence_parallel = true; }, [](L& l) { l.recompute = {"expert"}; },
             [](L& l) { l.kernels = "loop"; }, [](L& l) { l.dispatch = "allgather-reducescatter"; },
             [](L& l) { l.model = VerifyModel::kGlobalLoss; }}) {
        EXPECT_EQ(count({plain, layout_of("ep-aware", change)}), 0U) << layout_of("ep-aware", change).check.grid;
    }
    const auto alone = [](L& l) { l.ep = 1; };
    EXPECT_EQ(count({layout_of("sharded", alone), layout_of("ep-aware", alone)}), 0U)
        << "there is nothing to be aware of";
}

}  // namespace
}  // namespace auspex::workflows
