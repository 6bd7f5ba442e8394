/// @file What memory shuts out, against a search that has all the memory there could be.
#include "sim/search/answers/shut_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "sim/search/answers/ranked_plans.hpp"
#include "sim/search/plan_search.hpp"

namespace auspex::search {
namespace {

models::Inputs inputs_with(double hbm_bytes) {
    const auto load = [](const std::string& file) {
        return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + file + ".json");
    };
    models::Inputs inputs = models::load_inputs(load("machines/aurora"), load("stacks/optimus"),
                                                load("workloads/mula-7b-a1b"), load("plans/mula-7b-a1b"));
    inputs.machine.tile.hbm_bytes = hbm_bytes;
    return inputs;
}

SpaceRequest small_request() {
    SpaceRequest request;
    request.tiles = 24;
    request.global_batch = 96;
    request.where = read_constraints("--where", "pp<=2,tp<=2,virtual_stages<=2,micro_batch_size<=4");
    return request;
}

TEST(ShutOut, is_the_fastest_of_those_that_a_machine_with_more_memory_would_take) {
    const SpaceRequest request = small_request();
    const SearchResult all = search_plans(inputs_with(1e12), request, {.top = 400, .checks = 0});
    for (const double gigabytes : {20.0, 26.0, 28.0}) {
        SCOPED_TRACE(gigabytes);
        const models::Inputs inputs = inputs_with(gigabytes * 1e9);
        const SearchResult found = search_plans(inputs, request, {.checks = 0});
        ASSERT_FALSE(found.best.empty());
        const ShutOutPlans shut_out = shut_out_by_memory(inputs, request, found, 3);
        ASSERT_FALSE(shut_out.fastest.empty());
        const auto fastest = std::ranges::find_if(
            all.best, [&](const EvaluatedPlan& plan) { return plan.memory_peak_bytes > gigabytes * 1e9; });
        ASSERT_NE(fastest, all.best.end());
        const ShutOut& first = shut_out.fastest.front();
        EXPECT_EQ(first.plan.step, fastest->step);
        EXPECT_EQ(first.plan.memory_peak_bytes, fastest->memory_peak_bytes);
        EXPECT_EQ(first.excess_bytes, fastest->memory_peak_bytes - gigabytes * 1e9);
        for (const ShutOut& one : shut_out.fastest) {
            EXPECT_LT(one.plan.step, found.best.front().step);
            for (const std::optional<EvaluatedPlan>& saved : {one.by_recompute, one.by_other_field}) {
                if (saved) {  // of what fits none is faster than the best
                    EXPECT_LE(saved->memory_peak_bytes, gigabytes * 1e9);
                    EXPECT_GE(saved->step, found.best.front().step);
                }
            }
            if (one.by_recompute) {
                Candidate same = one.by_recompute->candidate;
                EXPECT_NE(same.recompute, one.plan.candidate.recompute);
                EXPECT_EQ(same.micro_batch_size, one.plan.candidate.micro_batch_size);
                EXPECT_EQ(same.pp, one.plan.candidate.pp);
            }
        }
    }
}

TEST(ShutOut, nothing_where_all_fits) {
    const models::Inputs inputs = inputs_with(1e12);
    const SearchResult found = search_plans(inputs, small_request(), {.checks = 0});
    EXPECT_TRUE(found.unfit.empty());
    EXPECT_TRUE(shut_out_by_memory(inputs, small_request(), found, 3).fastest.empty());
}

TEST(RankedPlans, what_a_runner_up_has_more_of_explains_all_that_it_is_behind) {
    const models::Inputs inputs = inputs_with(64e9);
    const std::vector<RankedPlan> list =
        ranked_plans(inputs, search_plans(inputs, small_request(), {.top = 5, .checks = 0}));
    ASSERT_EQ(list.size(), 5U);
    EXPECT_TRUE(list.front().behind.empty());
    for (const RankedPlan& one : list) {
        double more_s = 0;
        for (const LossChange& change : one.behind) {
            EXPECT_GT(change.seconds, 0);
            EXPECT_LE(change.seconds, one.behind.front().seconds);
            more_s += change.seconds;
        }
        // Losses sum to the step: what some have grown is at least what the step has.
        EXPECT_GE(more_s, one.prediction.step_time_s - list.front().prediction.step_time_s - 1e-11);
        double bound_s = 0;
        for (const LossChange& loss : binding_losses(one.prediction)) {
            bound_s += loss.seconds;
        }
        EXPECT_NEAR(bound_s, one.prediction.step_time_s - to_seconds(one.prediction.losses.front()), 1e-9);
    }
}

}  // namespace
}  // namespace auspex::search
