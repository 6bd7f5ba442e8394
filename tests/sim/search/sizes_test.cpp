/// @file Sizes of a job: against searches one by one, and against going through all sizes.
#include "sim/search/answers/sizes.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace auspex::search {
namespace {

constexpr double kTokens = 1e9;

models::Inputs inputs() {
    const auto load = [](const std::string& file) {
        return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + file + ".json");
    };
    return models::load_inputs(load("machines/aurora"), load("stacks/optimus"), load("workloads/mula-7b-a1b"),
                               load("plans/mula-7b-a1b"));
}

SpaceRequest request() {
    SpaceRequest one;
    one.global_batch = 96;
    one.where = read_constraints("--where", "pp<=2,tp<=2,micro_batch_size<=4,virtual_stages<=2");
    return one;
}

std::vector<SizePoint> points_of(const std::vector<int>& sizes) {
    return search_sizes(inputs(), request(), {.checks = 0}, sizes, kTokens, [](std::size_t, std::size_t) {});
}

TEST(Sizes, each_has_the_best_plan_of_a_search_of_its_own_and_its_margin) {
    const models::Inputs all = inputs();
    const std::vector<SizePoint> points = points_of({12, 24, 29, 48});
    ASSERT_EQ(points.size(), 4U);
    EXPECT_FALSE(points[2].best) << "29 ranks divide nothing";
    EXPECT_EQ(points[2].space, 0U);
    for (const std::size_t i : {0U, 1U, 3U}) {
        SpaceRequest one = request();
        one.tiles = points[i].tiles;
        const SearchResult found = search_plans(all, one, {.checks = 0});
        EXPECT_EQ(points[i].best->step, found.best.front().step);
        const predict::Prediction& p = points[i].prediction;
        EXPECT_EQ(p.step, found.best.front().step);
        const double steps = kTokens / (96.0 * all.workload.sequence_length);
        EXPECT_NEAR(p.run_time_s, steps * p.step_time_s, 1e-9 * p.run_time_s);
        EXPECT_NEAR(points[i].tokens_per_node_hour() * p.node_hours, kTokens, 1e-6 * kTokens);
    }
    EXPECT_FALSE(points[0].marginal_speedup);
    // 48 against 24, for 29 has no plan: twice the tiles could double the rate.
    EXPECT_NEAR(*points[3].marginal_speedup, points[3].prediction.tokens_per_s / points[1].prediction.tokens_per_s - 1,
                1e-12);
}

TEST(Sizes, more_tiles_pay_up_to_the_last_before_the_first_that_adds_less_than_half) {
    std::vector<SizePoint> points(4);
    for (std::size_t i = 0; i < points.size(); ++i) {
        points[i].tiles = 12 << i;
        points[i].best = EvaluatedPlan{};
    }
    points[1].marginal_speedup = 0.9;
    points[2].marginal_speedup = 0.49;
    points[3].marginal_speedup = 0.8;
    EXPECT_EQ(last_that_pays(points).point->tiles, 24);
    EXPECT_TRUE(last_that_pays(points).ends);
    points[2].marginal_speedup = 0.5;
    EXPECT_EQ(last_that_pays(points).point->tiles, 96);
    EXPECT_FALSE(last_that_pays(points).ends);
}

TEST(Sizes, objectives_pick_the_shortest_step_and_the_cheapest_tokens) {
    const std::vector<SizePoint> points = points_of({12, 24, 48, 96});
    const SizePoint *fastest = fastest_size(points), *cheapest = cheapest_size(points);
    for (const SizePoint& point : points) {
        EXPECT_LE(fastest->best->step, point.best->step);
        EXPECT_GE(cheapest->tokens_per_node_hour(), point.tokens_per_node_hour());
    }
    EXPECT_LT(cheapest->tiles, fastest->tiles);
}

TEST(Sizes, the_smallest_in_time_is_the_first_of_all_whose_best_plan_is) {
    const std::vector<int> sizes{12, 24, 29, 36, 48, 60, 72, 84, 96};
    const std::vector<SizePoint> points = points_of(sizes);
    const auto progress = [](std::size_t, std::size_t) {};
    for (const double share : {1.2, 0.9, 0.55, 0.4, 0.3, 0.2}) {
        const double deadline_s = points.front().prediction.run_time_s * share;
        SCOPED_TRACE(share);
        int expected = 0;
        for (const SizePoint& point : points) {
            expected =
                expected == 0 && point.best && point.prediction.run_time_s <= deadline_s ? point.tiles : expected;
        }
        const DeadlineResult found =
            smallest_in_time(inputs(), request(), {.checks = 0}, sizes, kTokens, deadline_s, progress);
        EXPECT_EQ(found.smallest ? found.smallest->tiles : 0, expected);
        if (found.smallest) {
            EXPECT_LE(found.smallest->prediction.run_time_s, deadline_s);
        }
    }
    EXPECT_FALSE(smallest_in_time(inputs(), request(), {.checks = 0}, sizes, kTokens, 1e-3, progress).smallest);
}

}  // namespace
}  // namespace auspex::search
