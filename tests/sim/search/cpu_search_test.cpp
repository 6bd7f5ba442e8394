/// @file Searches over ranks that share CPU cores.
#include <gtest/gtest.h>

#include <vector>

#include "../cpu/cpu_fixture.hpp"
#include "base/rng.hpp"
#include "sim/predict/predict.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/search/answers/given_plan.hpp"
#include "sim/search/bounds/cpu_floor.hpp"
#include "sim/search/plan_search.hpp"

namespace auspex::search {
namespace {

/// toy-moe with the trainer's stack, four ranks on two cores.
models::Inputs small_inputs() {
    return testing_cpu::toy_inputs("toy-ep2-dp2", "toy-moe", testing_cpu::plausible_machine());
}

SpaceRequest small_request() {
    SpaceRequest request;
    request.tiles = request.global_batch = 4;
    request.where = read_constraints("--where", "micro_batch_size<=2");
    request.fixed = {"expert_kernels", "recompute"};
    return request;
}

TEST(CpuSearch, finds_what_trying_all_plans_finds_and_each_is_what_predict_says) {
    const models::Inputs inputs = small_inputs();
    const SpaceRequest request = small_request();
    SearchOptions options;
    const SearchResult found = search_plans(inputs, request, options);
    options.exhaustive = true;
    const SearchResult all = search_plans(inputs, request, options);
    ASSERT_EQ(found.best.size(), all.best.size());
    for (std::size_t i = 0; i < all.best.size(); ++i) {
        EXPECT_EQ(found.best[i].index, all.best[i].index) << i;
        EXPECT_EQ(found.best[i].step, all.best[i].step) << i;
    }
    EXPECT_EQ(all.evaluated, all.space);
    EXPECT_LT(found.evaluated, all.evaluated) << "bounds decide of some";
    ASSERT_EQ(found.best.size(), options.top);
    models::Inputs own = inputs;
    own.plan = plan_of(found.best.front().candidate, inputs.plan);
    const predict::Prediction predicted = predict::predict(own, {.sensitivity = false}).prediction;
    EXPECT_EQ(predicted.step, found.best.front().step);
    EXPECT_EQ(predicted.memory.peak_bytes, found.best.front().memory_peak_bytes);
}

/// Also where kernels of whole arrays take long and some stages have no experts, so that deals differ in calls.
TEST(CpuSearch, no_bound_is_above_the_step) {
    models::Inputs inputs = small_inputs();
    inputs.machine.cpu.cores = 1;
    inputs.workload.layers = 6;
    inputs.workload.first_dense_layers = 1;
    inputs.workload.intermediate_size = 64;
    for (auto& costs : inputs.machine.cpu.kernel_costs) {
        costs[static_cast<std::size_t>(models::CpuKernel::kFiniteCheckGradients)].seconds_per[0] = 5e-3;
    }
    SpaceRequest request = small_request();
    request.fixed.clear();
    const PlanSpace space(inputs, request);
    Rng rng(3);
    for (int draw = 0; draw < 200; ++draw) {
        const std::vector<Candidate> plans = space.plans_of(rng.below(space.shapes().size()));
        models::Inputs own = inputs;
        const Candidate& plan = plans[rng.below(plans.size())];
        own.plan = plan_of(plan, inputs.plan);
        CpuFloor floor(inputs);
        const double step_s = to_seconds(predict::simulate_step(own, {}, false).step);
        EXPECT_LE(floor.actions_s(plan), step_s) << "draw " << draw;
        EXPECT_LE(floor.kernels_s(plan), floor.actions_s(plan) * (1 + 1e-5)) << "draw " << draw;
    }
}

TEST(CpuSearch, has_no_plan_that_the_trainer_does_not_run) {
    models::Inputs inputs = small_inputs();
    EXPECT_FALSE(search_plans(inputs, small_request(), {}).best.empty());
    inputs.workload.qk_norm = true, inputs.workload.norm = models::NormKind::kLayer;
    const SearchResult none = search_plans(inputs, small_request(), {});
    EXPECT_EQ(none.space, 0u);
    EXPECT_TRUE(none.rejected.contains(
        "the trainer does not run it: operation qk_norm: queries and keys are normalised by RMS norms only"));
}

TEST(CpuSearch, has_of_optimizers_those_that_the_trainer_runs_whatever_is_overlapped) {
    models::Inputs inputs = small_inputs();
    inputs.stack.offers_optimizers = {"replicated", "zero-2", "fsdp"};
    const SearchResult found = search_plans(inputs, small_request(), {});
    EXPECT_TRUE(
        found.rejected.contains("the trainer does not run it: operation gradient_reduce_dense: the sum of sharded "
                                "gradients beside compute is not bound"));
    ASSERT_FALSE(found.best.empty());
    for (const EvaluatedPlan& one : found.best) {
        EXPECT_EQ(one.candidate.optimizer, models::OptimizerSharding::kReplicated);
    }
}

TEST(CpuSearch, places_a_given_plan_among_all) {
    const models::Inputs inputs = small_inputs();  // its plan, ep 2 and dp 2, is one of the space
    const SpaceRequest request = small_request();
    SearchOptions options;
    options.exhaustive = true;
    const SearchResult all = search_plans(inputs, request, options);
    const GivenPlan given = place_given_plan(inputs, request, all, ranked_plans(inputs, all).front());
    ASSERT_EQ(given.why_not, "");
    std::uint64_t faster = 0;
    for (const EvaluatedPlan& one : all.played) {
        faster += one.step < given.ranked.evaluated.step ? 1U : 0U;
    }
    EXPECT_TRUE(given.faster.is_exact());
    EXPECT_EQ(given.faster.at_least, faster);
}

}  // namespace
}  // namespace auspex::search
