/// @file What would help: each change is the step that it says, and of each field it is the best one.
#include "sim/search/advice/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.hpp"
#include "sim/predict/predict.hpp"
#include "sim/predict/sensitivity.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {
namespace {

models::Inputs inputs_of(const std::string& machine, const std::string& stack, const std::string& model) {
    const auto load = [](const std::string& file) {
        return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + file + ".json");
    };
    return models::load_inputs(load("machines/" + machine), load("stacks/" + stack), load("workloads/" + model),
                               load("plans/" + model));
}

/// Mula-220B-A10B on Aurora: recompute on, no interleaving.
models::Inputs large_inputs() {
    models::Inputs inputs = inputs_of("aurora", "optimus", "mula-220b-a10b");
    inputs.plan.dp = 0;
    return inputs;
}

predict::Prediction predicted(const models::Inputs& inputs, int tiles) {
    return predict::predict(inputs, {.tiles = tiles}).prediction;
}

/// Null where no change of the field is listed.
const HelpfulPlan* change_of(const Advice& advice, const std::string& field, bool can_be_had = true) {
    const auto found = std::ranges::find_if(advice.plans, [&](const HelpfulPlan& change) {
        return change.field == field && change.can_be_had() == can_be_had;
    });
    return found == advice.plans.end() ? nullptr : &*found;
}

double step_s(models::Inputs inputs, const models::Plan& plan) {
    inputs.plan = plan;
    inputs.stack = overlapping(inputs.stack);
    return to_seconds(predict::simulate_step(inputs, {}, false).step);
}

using Refused = std::vector<std::string>;

template <typename Limit>
PlanFilter filter_of(const Limit& limit) {
    return {"a test", [limit](const models::Machine&, const models::Workload&, const models::Plan& plan) -> Refused {
                return limit(plan);
            }};
}

TEST(Advice, what_settings_cannot_say_is_not_to_be_had_unless_the_plan_asks_for_it_already) {
    const models::Inputs inputs = large_inputs();
    const predict::Prediction p = predicted(inputs, 768);
    const auto limit = [](const models::Plan& plan) {
        return plan.schedule == models::ScheduleKind::kInterleaved1f1b ? Refused{"schedule"} : Refused{};
    };
    const Advice advice = advise(inputs, p, filter_of(limit));
    EXPECT_EQ(change_of(advice, "schedule"), nullptr);
    ASSERT_NE(change_of(advice, "schedule", false), nullptr);
    EXPECT_EQ(change_of(advice, "schedule", false)->refused, "schedule");
    EXPECT_EQ(change_of(advice, "schedule", false)->lacking, "");
    EXPECT_TRUE(std::ranges::none_of(advice.one_after_another,
                                     [&](const HelpfulPlan& change) { return !limit(change.plan).empty(); }));
    EXPECT_TRUE(advice.not_tried.empty()) << advice.not_tried;
    const Advice all_alike = advise(inputs, p, filter_of([](const models::Plan&) { return Refused{"anything"}; }));
    ASSERT_NE(change_of(all_alike, "schedule"), nullptr);
}

// The plan is refused for its order of ranks and for pp. Another order leaves pp as it was, which is no fault of the
// order; another pp has a fault of its own; a schedule that is refused is so behind the others, too.
TEST(Advice, of_what_settings_cannot_say_a_change_answers_for_what_it_brings_alone) {
    models::Inputs inputs = large_inputs();
    inputs.plan.dp = 8;
    const auto limit = [](const models::Plan& plan) {
        Refused refused;
        if (plan.rank_order.front() != models::Axis::kPp) {
            refused.emplace_back("rank_order");
        }
        if (plan.pp > 1) {
            refused.push_back("pp " + std::to_string(plan.pp) + " with experts");
        }
        if (plan.schedule != models::ScheduleKind::k1f1b) {
            refused.emplace_back("schedule");
        }
        refused.push_back("optimizer with pp " + std::to_string(plan.pp));
        return refused;
    };
    int orders = 0, pipelines = 0, schedules = 0;
    for (const PlanChange& change : plan_changes(inputs, 768, 768, filter_of(limit))) {
        if (change.field == "rank_order") {
            ++orders;
            EXPECT_EQ(change.refused, "");
        } else if (change.field == "pp" && change.plan.pp > 1) {
            ++pipelines;
            EXPECT_EQ(change.refused, "pp " + std::to_string(change.plan.pp) + " with experts");
        } else if (change.field == "schedule" && change.lacking.empty()) {
            ++schedules;
            EXPECT_EQ(change.refused, "schedule");
        }
    }
    EXPECT_TRUE(orders > 0 && pipelines > 0 && schedules > 0) << orders << " " << pipelines << " " << schedules;
}

TEST(Advice, names_the_micro_batches_that_interleaving_would_need) {
    models::Inputs inputs = large_inputs();
    inputs.plan.micro_batches = inputs.plan.pp + 2;
    const Advice advice = advise(inputs, predicted(inputs, 768));
    EXPECT_NE(
        advice.not_tried.find(std::to_string(inputs.plan.pp) + " and " + std::to_string(2 * inputs.plan.pp) + " are"),
        std::string::npos)
        << advice.not_tried;
}

TEST(Advice, names_recompute_and_interleaving_of_a_large_job_and_what_the_stack_lacks) {
    const models::Inputs inputs = large_inputs();
    const predict::Prediction p = predicted(inputs, 6144);
    const Advice advice = advise(inputs, p);
    const HelpfulPlan* const recompute = change_of(advice, "recompute");
    ASSERT_NE(recompute, nullptr);
    EXPECT_FALSE(recompute->plan.recompute.norm || recompute->plan.recompute.attention ||
                 recompute->plan.recompute.expert);
    EXPECT_GT(recompute->gain, 0.1);
    const HelpfulPlan* const schedule = change_of(advice, "schedule");
    ASSERT_NE(schedule, nullptr);
    EXPECT_EQ(schedule->plan.schedule, models::ScheduleKind::kInterleaved1f1b);
    EXPECT_GT(schedule->gain, 0.1);
    const HelpfulPlan* const dispatch = change_of(advice, "dispatch", false);
    ASSERT_NE(dispatch, nullptr);
    EXPECT_EQ(dispatch->lacking, "dispatch \"hierarchical-alltoall\"");
    // mfu = model FLOP of a tile / step / peak, and the former do not change; tiles and batch stay.
    for (const HelpfulPlan& change : advice.plans) {
        EXPECT_EQ(change.step_time_s, step_s(inputs, change.plan)) << change.field;
        EXPECT_NEAR(change.mfu * change.step_time_s, p.mfu * p.step_time_s, 1e-12) << change.field;
        EXPECT_NEAR(change.gain, p.step_time_s / change.step_time_s - 1, 1e-12) << change.field;
        EXPECT_EQ(tiles_of(resolve_plan(change.plan, inputs.workload, 0)), 6144) << change.field;
        models::Inputs changed = inputs;
        changed.plan = change.plan;
        changed.stack = overlapping(inputs.stack);
        const predict::Prediction with = predict::predict(changed, {.sensitivity = false}).prediction;
        EXPECT_EQ(with.global_batch, p.global_batch) << change.field;
        EXPECT_EQ(with.memory.peak_bytes, change.memory_peak_bytes) << change.field;
        EXPECT_EQ(with.memory.fits, change.fits) << change.field;
    }
    EXPECT_TRUE(std::ranges::is_sorted(advice.plans, {}, [](const HelpfulPlan& change) {
        return std::pair(!change.can_be_had(), change.step_time_s);
    }));
}

TEST(Advice, of_a_field_it_is_the_best_of_all_its_values) {
    const models::Inputs inputs = large_inputs();
    const Advice advice = advise(inputs, predicted(inputs, 768));
    double least_s = 1e9;
    for (unsigned set = 0; set < 8; ++set) {
        models::Plan plan = inputs.plan;
        plan.dp = 8;
        plan.recompute.norm = (set & 1) != 0;
        plan.recompute.attention = (set & 2) != 0;
        plan.recompute.expert = (set & 4) != 0;
        least_s = std::min(least_s, step_s(inputs, plan));
    }
    ASSERT_NE(change_of(advice, "recompute"), nullptr);
    EXPECT_EQ(change_of(advice, "recompute")->step_time_s, least_s);
}

// A step of 158,132 events: there bounds shut out what cannot be the best, and nothing else.
TEST(Advice, of_a_step_that_takes_long_to_play_it_is_the_best_of_all_values_too) {
    models::Inputs inputs = inputs_of("dgx-h100", "bare", "llama3-70b");
    const predict::Prediction p = predict::predict(inputs, {.sensitivity = false}).prediction;
    ASSERT_GT(p.events, 20'000U);
    const Advice advice = advise(inputs, p);
    double least_s = p.step_time_s, least_deal_s = p.step_time_s;
    for (unsigned set = 0; set < 8; ++set) {
        models::Plan plan = inputs.plan;
        plan.recompute.norm = (set & 1) != 0;
        plan.recompute.attention = (set & 2) != 0;
        plan.recompute.expert = (set & 4) != 0;
        models::Inputs changed = inputs;
        changed.plan = plan;
        const bool fits = predict::predict(changed, {.sensitivity = false}).prediction.memory.fits;
        least_s = fits ? std::min(least_s, step_s(inputs, plan)) : least_s;
    }
    ASSERT_NE(change_of(advice, "recompute"), nullptr);
    EXPECT_EQ(change_of(advice, "recompute")->step_time_s, least_s);
    for (const models::StageDeal deal : models::kNamedDeals) {
        models::Plan plan = inputs.plan;
        plan.stages = deal;
        least_deal_s = std::min(least_deal_s, step_s(inputs, plan));
    }
    const HelpfulPlan* const stages = change_of(advice, "stages");
    EXPECT_NEAR(stages == nullptr ? p.step_time_s : stages->step_time_s, least_deal_s, 1e-3 * least_deal_s);
    EXPECT_TRUE(advice.constants.empty()) << "no elasticities were asked for";
}

TEST(Advice, one_after_another_each_is_played_with_those_before_it) {
    const models::Inputs inputs = large_inputs();
    const Advice advice = advise(inputs, predicted(inputs, 768));
    ASSERT_GE(advice.one_after_another.size(), 2U);
    EXPECT_EQ(advice.one_after_another.front().step_time_s, advice.plans.front().step_time_s);
    double before_s = 1e9;
    for (const HelpfulPlan& change : advice.one_after_another) {
        EXPECT_EQ(change.step_time_s, step_s(inputs, change.plan)) << change.field;
        EXPECT_LT(change.step_time_s, before_s);
        EXPECT_TRUE(change.can_be_had());
        before_s = change.step_time_s;
    }
    const models::Plan& last = advice.one_after_another.back().plan;
    EXPECT_EQ(last.schedule, models::ScheduleKind::kInterleaved1f1b);
    EXPECT_FALSE(last.recompute.expert);
}

TEST(Advice, what_trains_in_another_precision_says_so_and_is_on_no_path) {
    models::Inputs inputs = large_inputs();
    inputs.plan.gradient_bytes = 4;
    const Advice advice = advise(inputs, predicted(inputs, 768));
    const HelpfulPlan* const narrow = change_of(advice, "gradient_dtype");
    ASSERT_NE(narrow, nullptr);
    EXPECT_EQ(narrow->plan.gradient_bytes, 2);
    EXPECT_TRUE(narrow->changes_results);
    ASSERT_FALSE(advice.one_after_another.empty());
    for (const HelpfulPlan& change : advice.one_after_another) {
        EXPECT_FALSE(change.changes_results);
        EXPECT_EQ(change.plan.gradient_bytes, 4);
    }
}

std::vector<models::Fp8> recipes_of(const Advice& advice, bool can_be_had = true) {
    std::vector<models::Fp8> recipes;
    for (const HelpfulPlan& change : advice.plans) {
        if (change.field == "fp8" && change.can_be_had() == can_be_had) {
            EXPECT_TRUE(change.changes_results);
            recipes.push_back(change.plan.fp8);
        }
    }
    return recipes;
}

// An H100 multiplies in 8 bits at 1.85 of its rate in bf16 with a scale a tensor, at 1.57 with one a block, in 4 bits
// not at all. All recipes that gain are listed, as which of them trains well is not said by time.
TEST(Advice, products_in_8_bits_are_tried_where_the_tile_has_a_rate_of_them) {
    models::Inputs inputs = inputs_of("dgx-h100", "megatron-core", "llama3-70b");
    inputs.plan.micro_batches = inputs.plan.pp;
    const Advice advice = advise(inputs, predicted(inputs, 0));
    EXPECT_EQ(recipes_of(advice), (std::vector{models::Fp8::kTensorwise, models::Fp8::kBlockwise}));
    EXPECT_TRUE(recipes_of(advice, false).empty());
    ASSERT_NE(change_of(advice, "fp8"), nullptr);
    EXPECT_GT(change_of(advice, "fp8")->gain, 0.2);
    EXPECT_EQ(change_of(advice, "fp8")->step_time_s, step_s(inputs, change_of(advice, "fp8")->plan));
    EXPECT_EQ(std::ranges::find(advice.without_gain, "fp8"), advice.without_gain.end());
    for (const HelpfulPlan& change : advice.one_after_another) {
        EXPECT_EQ(change.plan.fp8, models::Fp8::kNone) << change.field;
    }

    inputs.stack.offers_fp8.clear();
    const Advice without = advise(inputs, predicted(inputs, 0));
    EXPECT_TRUE(recipes_of(without).empty());
    EXPECT_EQ(recipes_of(without, false), std::vector{models::Fp8::kTensorwise});  // the best that cannot be had
    EXPECT_EQ(change_of(without, "fp8", false)->lacking, "fp8 \"tensorwise\"");
}

TEST(Advice, products_in_bf16_are_tried_in_place_of_narrow_ones_that_are_slower) {
    models::Inputs inputs = inputs_of("dgx-h100", "megatron-core", "llama3-70b");
    inputs.plan.micro_batches = inputs.plan.pp;
    inputs.plan.fp8 = models::Fp8::kTensorwise;
    inputs.plan.fp8_weights_only = true;
    inputs.machine.tile.gemm_fp8_flop_per_s = 0.5 * inputs.machine.tile.gemm_bf16_flop_per_s;
    const Advice advice = advise(inputs, predicted(inputs, 0));
    EXPECT_EQ(recipes_of(advice), (std::vector{models::Fp8::kBlockwise, models::Fp8::kNone}));
    for (const HelpfulPlan& change : advice.plans) {
        EXPECT_EQ(change.plan.fp8_weights_only, change.plan.fp8 != models::Fp8::kNone) << change.field;
    }
}

TEST(Advice, products_in_8_bits_are_no_matter_where_the_tile_or_the_weights_have_none) {
    models::Inputs inputs = large_inputs();  // Aurora: no such rates
    const Advice advice = advise(inputs, predicted(inputs, 768));
    EXPECT_EQ(change_of(advice, "fp8", false), nullptr);
    EXPECT_EQ(std::ranges::find(advice.without_gain, "fp8"), advice.without_gain.end());
    inputs.machine.tile.gemm_fp8_flop_per_s = 2 * inputs.machine.tile.gemm_bf16_flop_per_s;
    inputs.plan.precision = "fp32";
    inputs.plan.dp = 8;
    for (const PlanChange& change : plan_changes(inputs, 768, 768)) {
        EXPECT_NE(change.field, "fp8");
    }
}

TEST(Advice, names_contiguous_nodes_where_others_cost_time) {
    models::Inputs inputs = large_inputs();
    inputs.plan.placement = models::PlacementKind::kRandom;
    const Advice advice = advise(inputs, predicted(inputs, 6144));
    const HelpfulPlan* const placement = change_of(advice, "placement");
    ASSERT_NE(placement, nullptr);
    EXPECT_EQ(placement->plan.placement, models::PlacementKind::kContiguous);
}

TEST(Advice, what_does_not_fit_is_said_so_and_a_plan_that_does_not_is_made_to_fit) {
    models::Inputs inputs = large_inputs();
    inputs.machine.tile.hbm_bytes = 40e9;  // with recompute 16 GB, without 55 GB
    const Advice advice = advise(inputs, predicted(inputs, 768));
    const HelpfulPlan* const had = change_of(advice, "recompute");
    const HelpfulPlan* const too_large = change_of(advice, "recompute", false);
    ASSERT_NE(had, nullptr);  // some of the modules
    ASSERT_NE(too_large, nullptr);
    EXPECT_GT(too_large->memory_peak_bytes, 40e9);
    EXPECT_LE(had->memory_peak_bytes, 40e9);
    EXPECT_LT(too_large->step_time_s, had->step_time_s);

    inputs.plan.recompute.norm = inputs.plan.recompute.attention = inputs.plan.recompute.expert = false;
    const predict::Prediction unfit = predicted(inputs, 768);
    ASSERT_FALSE(unfit.memory.fits);
    const Advice rescue = advise(inputs, unfit);
    const HelpfulPlan* const again = change_of(rescue, "recompute");
    ASSERT_NE(again, nullptr);
    EXPECT_LT(again->gain, 0);  // it takes longer, and fits
}

TEST(Advice, a_better_constant_is_the_step_with_it_and_never_beyond_what_there_is) {
    const models::Inputs inputs = large_inputs();
    const predict::Prediction p = predicted(inputs, 768);
    const Advice advice = advise(inputs, p);
    ASSERT_FALSE(advice.constants.empty());
    models::Inputs own = inputs;
    own.plan.dp = 8;
    for (const HelpfulConstant& better : advice.constants) {
        const models::Inputs changed = predict::with_scaled(own, better.constant, better.factor);
        EXPECT_EQ(better.step_time_s, to_seconds(predict::simulate_step(changed, {}, false).step))
            << better.constant.path;
        EXPECT_GT(better.gain, 0) << better.constant.path;
        if (better.constant.path == "machine.tile.gemm_ceiling") {
            EXPECT_NEAR(better.constant.value * better.factor, 1, 1e-12);  // a share
        }
        if (better.constant.path == "machine.tile.gemm_bf16") {
            EXPECT_NEAR(better.constant.value * better.factor, inputs.machine.tile.peak_bf16_flop_per_s, 1);
        }
    }
    EXPECT_TRUE(std::ranges::is_sorted(advice.constants, std::ranges::greater(), &HelpfulConstant::gain));
}

TEST(Advice, is_the_same_each_time_and_of_dense_models_too) {
    models::Inputs inputs = inputs_of("dgx-h100", "bare", "llama3-70b");
    inputs.plan.micro_batches = 2 * inputs.plan.pp;
    const predict::Prediction p = predicted(inputs, 0);
    const Advice one = advise(inputs, p), other = advise(inputs, p);
    EXPECT_GT(one.tried, 10);
    ASSERT_EQ(one.plans.size(), other.plans.size());
    for (std::size_t i = 0; i < one.plans.size(); ++i) {
        EXPECT_EQ(one.plans[i].field, other.plans[i].field);
        EXPECT_EQ(one.plans[i].step_time_s, other.plans[i].step_time_s);
        EXPECT_NE(one.plans[i].field, "expert_kernels");
        EXPECT_NE(one.plans[i].field, "ep");
    }
}

}  // namespace
}  // namespace auspex::search
