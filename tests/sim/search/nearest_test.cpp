/// @file What is nearest to an empty space, or to one of which nothing fits: against going through all.
#include "sim/search/answers/nearest.hpp"

#include <gtest/gtest.h>

#include "sim/search/plan_search.hpp"

namespace auspex::search {
namespace {

models::Inputs inputs_of(const std::string& workload) {
    const auto load = [](const std::string& file) {
        return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + file + ".json");
    };
    return models::load_inputs(load("machines/aurora"), load("stacks/optimus"), load("workloads/" + workload),
                               load("plans/mula-7b-a1b"));
}

SpaceRequest request_of(int tiles, int batch) {
    SpaceRequest request;
    request.tiles = tiles;
    request.global_batch = batch;
    request.where = read_constraints("--where", "pp<=2,tp<=2,micro_batch_size<=2,virtual_stages<=2");
    return request;
}

TEST(Nearest, batch_and_tiles_have_plans_and_nothing_nearer_has) {
    const models::Inputs inputs = inputs_of("mula-7b-a1b");
    for (const auto& [tiles, batch] : {std::pair{37, 5}, {29, 60}, {24, 7}, {58, 3}}) {
        SpaceRequest request = request_of(tiles, batch);
        if (has_plans(inputs, request)) {
            continue;
        }
        SCOPED_TRACE(std::to_string(tiles) + " tiles, batch " + std::to_string(batch));
        const auto distance_of = [&](int SpaceRequest::*field, int from) {
            for (int distance = 1;; ++distance) {
                for (const int number : {from - distance, from + distance}) {
                    SpaceRequest other = request;
                    other.*field = number;
                    if (number > 0 && has_plans(inputs, other)) {
                        return number;
                    }
                }
            }
        };
        EXPECT_EQ(nearest_batch(inputs, request), distance_of(&SpaceRequest::global_batch, batch));
        EXPECT_EQ(nearest_tiles(inputs, request), distance_of(&SpaceRequest::tiles, tiles));
        const std::optional<int> of_nodes = nearest_tiles(inputs, request, tiles);
        EXPECT_TRUE(!of_nodes || *of_nodes % tiles == 0);
    }
    EXPECT_FALSE(has_plans(inputs, request_of(37, 5)));
}

TEST(Nearest, least_memory_is_not_above_any_plan_of_a_search_and_the_size_that_fits_is_the_first_one) {
    models::Inputs inputs = inputs_of("mula-20b-a2b");
    const SpaceRequest request = request_of(12, 24);
    const SearchResult found = search_plans(inputs, request, {.top = 100, .checks = 0});
    const std::optional<EvaluatedPlan> least = least_memory_plan(inputs, request);
    ASSERT_TRUE(least);
    for (const EvaluatedPlan& plan : found.pareto) {
        EXPECT_LE(least->memory_peak_bytes, plan.memory_peak_bytes);
    }
    inputs.machine.tile.hbm_bytes = least->memory_peak_bytes * 0.6;
    EXPECT_TRUE(search_plans(inputs, request, {.checks = 0}).best.empty());
    const std::optional<int> tiles = nearest_tiles_that_fit(inputs, request);
    ASSERT_TRUE(tiles);
    EXPECT_EQ(*tiles % 12, 0);
    for (int smaller = 24; smaller < *tiles; smaller += 12) {
        EXPECT_TRUE(search_plans(inputs, request_of(smaller, 24), {.checks = 0}).best.empty()) << smaller;
    }
    EXPECT_FALSE(search_plans(inputs, request_of(*tiles, 24), {.checks = 0}).best.empty());
}

}  // namespace
}  // namespace auspex::search
