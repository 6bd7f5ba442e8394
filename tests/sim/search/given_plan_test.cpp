/// @file Places of plans and cells of maps, against all plans of a small space played one by one.
#include "sim/search/answers/given_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/search/answers/plan_map.hpp"
#include "sim/search/plan_search.hpp"
#include "sim/search/space/grids.hpp"

namespace auspex::search {
namespace {

models::Inputs inputs_with(double hbm_bytes) {
    const auto load = [](const std::string& file) {
        return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + file + ".json");
    };
    models::Inputs inputs = models::load_inputs(load("machines/aurora"), load("stacks/optimus"),
                                                load("workloads/mula-7b-a1b"), load("plans/mula-7b-a1b"));
    inputs.machine.tile.hbm_bytes = hbm_bytes;
    inputs.workload.layers = 4;
    inputs.workload.num_experts = 8;
    return inputs;
}

SpaceRequest small_request() {
    SpaceRequest request;
    request.tiles = 8;
    request.global_batch = 16;
    request.where = read_constraints("--where", "tp<=2,virtual_stages<=2,micro_batch_size<=2");
    return request;
}

std::uint64_t faster_than(const SearchResult& all, Picoseconds step) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(all.played, [step](const EvaluatedPlan& plan) { return plan.step < step; }));
}

/// Of the space: those of the plan file that differ in the field named.
std::vector<models::Inputs> given_plans() {
    std::vector<models::Inputs> list(6, inputs_with(64e9));
    list[1].plan.recompute.attention = true;
    list[2].plan.pp = 2;
    list[3].plan.ep = 4, list[3].plan.tp = 2;
    list[4].plan.pp = 2, list[4].plan.stages = models::StageDeal::kWithHead;
    list[5].plan.pp = 2, list[5].plan.stages = models::StageDeal::kWithBoth;  // 2 and 2 layers: of the space as even
    return list;
}

TEST(GivenPlan, has_the_place_that_playing_all_plans_gives) {
    const SpaceRequest request = small_request();
    // All vary in fields that are free: of one space.
    const SearchResult all = search_plans(inputs_with(64e9), request, {.exhaustive = true, .checks = 0});
    const SearchResult found = search_plans(inputs_with(64e9), request, {.checks = 0});
    for (const models::Inputs& inputs : given_plans()) {
        const RankedPlan best = ranked_plan(inputs, found.best.front(), 0);
        const GivenPlan exact = place_given_plan(inputs, request, all, best, 0);
        ASSERT_EQ(exact.why_not, "");
        const Picoseconds step = exact.ranked.evaluated.step;
        const std::uint64_t faster = faster_than(all, step);
        EXPECT_GT(faster, 10U) << "else the ten best decide";
        EXPECT_TRUE(exact.faster.is_exact());
        EXPECT_EQ(exact.faster.at_least, faster);
        // A draw of all that is left, too.
        const GivenPlan drawn = place_given_plan(inputs, request, found, best, 100'000);
        EXPECT_EQ(drawn.ranked.evaluated.step, step);
        EXPECT_GT(drawn.faster.undecided, 0U);
        EXPECT_TRUE(drawn.faster.is_exact());
        EXPECT_EQ(drawn.faster.at_least, faster);
        EXPECT_EQ(drawn.faster.estimate, static_cast<double>(faster));
    }
}

TEST(GivenPlan, by_a_draw_is_within_certain_limits_and_mostly_within_the_interval) {
    const SpaceRequest request = small_request();
    models::Inputs inputs = inputs_with(64e9);
    inputs.plan.recompute.norm = inputs.plan.recompute.attention = inputs.plan.recompute.expert = true;
    const SearchResult all = search_plans(inputs, request, {.exhaustive = true, .checks = 0});
    const SearchResult found = search_plans(inputs, request, {.checks = 0});
    const RankedPlan best = ranked_plan(inputs, found.best.front(), 0);
    int held = 0;
    constexpr int kSeeds = 20;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const GivenPlan given = place_given_plan(inputs, request, found, best, 40, seed);
        const std::uint64_t faster = faster_than(all, given.ranked.evaluated.step);
        EXPECT_EQ(given.faster.drawn, 40U);
        EXPECT_LE(given.faster.at_least, faster);
        EXPECT_GE(given.faster.at_most, faster);
        held += given.faster.interval.holds(static_cast<double>(faster)) ? 1 : 0;
    }
    EXPECT_GE(held, 15) << "of 20 intervals of 90 %, fewer with a probability of 1 %";
}

TEST(GivenPlan, of_no_plan_of_the_space_names_the_field) {
    const SpaceRequest request = small_request();
    models::Inputs inputs = inputs_with(64e9);
    const SearchResult found = search_plans(inputs, request, {.top = 1, .checks = 0});
    const RankedPlan best = ranked_plan(inputs, found.best.front(), 0);
    inputs.plan.pp = 5;
    EXPECT_NE(place_given_plan(inputs, request, found, best).why_not.find(" pp "), std::string::npos);
    inputs.plan.pp = 1;
    inputs.plan.expert_kernels = models::ExpertKernels::kGrouped;
    const std::string why_not = place_given_plan(inputs, request, found, best).why_not;
    EXPECT_NE(why_not.find(" expert_kernels "), std::string::npos) << why_not;
}

TEST(PlanMap, cells_say_what_playing_all_plans_says) {
    const SpaceRequest request = small_request();
    std::set<CellKnowledge> kinds;
    for (const double gigabytes : {3.0, 6.0, 64.0}) {
        SCOPED_TRACE(gigabytes);
        const models::Inputs inputs = inputs_with(gigabytes * 1e9);
        const SearchResult all = search_plans(inputs, request, {.exhaustive = true, .checks = 0});
        const SearchResult found = search_plans(inputs, request, {.checks = 0});
        const PlanMap map = map_plans(inputs, request, found, [] { return false; });
        const PlanMap whole = map_plans(inputs, request, all, [] { return false; });
        ASSERT_EQ(map.pairs.size(), whole.pairs.size());
        EXPECT_STREQ(map.axes[map.pairs.front().rows].name, "pp");
        EXPECT_STREQ(map.axes[map.pairs.front().columns].name, "ep");
        for (std::size_t pair = 0; pair < map.pairs.size(); ++pair) {
            ASSERT_EQ(map.pairs[pair].cells.size(), whole.pairs[pair].cells.size());
            for (std::size_t i = 0; i < map.pairs[pair].cells.size(); ++i) {
                const MapCell &cell = map.pairs[pair].cells[i], &truth = whole.pairs[pair].cells[i];
                kinds.insert(cell.knowledge);
                const bool any_fits = truth.knowledge == CellKnowledge::kExact;
                switch (cell.knowledge) {
                    case CellKnowledge::kExact: EXPECT_EQ(cell.best.step, truth.best.step); break;
                    case CellKnowledge::kPlayed:
                        EXPECT_GE(cell.best.step, truth.best.step);
                        EXPECT_LE(cell.least_s, to_seconds(truth.best.step));
                        break;
                    case CellKnowledge::kBounded:
                        EXPECT_TRUE(!any_fits || cell.least_s <= to_seconds(truth.best.step));
                        break;
                    case CellKnowledge::kTooLarge: EXPECT_FALSE(any_fits); break;
                }
            }
        }
    }
    EXPECT_EQ(kinds.size(), 4U) << "each kind of knowledge occurs";
}

TEST(Grids, plans_are_found_by_their_numbers) {
    const models::Inputs inputs = inputs_with(64e9);
    const PlanSpace space(inputs, small_request());
    for (std::size_t shape = 0; shape < space.shapes().size(); ++shape) {
        EXPECT_EQ(shape_of_plan(space, space.first_plan(shape)), shape);
        EXPECT_EQ(shape_of_plan(space, space.first_plan(shape + 1) - 1), shape);
    }
    EXPECT_EQ(first_shapes_of_grids(space).back(), space.shapes().size());
}

}  // namespace
}  // namespace auspex::search
