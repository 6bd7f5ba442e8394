/// @file Searches that are cut, and whose counts nothing may fall out of, against all plans one by one.
#include "sim/search/left_plans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "search_fixture.hpp"

namespace auspex::search {
namespace {

using testing_search::drawn_inputs;
using testing_search::small_request;

SearchResult cut_search(const models::Inputs& inputs, const SpaceRequest& request, int looks) {
    std::atomic<int> done = 0;
    return search_plans(inputs, request, {.checks = 0, .is_cut = [&] { return ++done > looks; }});
}

/// Of the best of all, those that the search has neither played nor left.
std::uint64_t lost_of_best(const SearchResult& all, const SearchResult& found) {
    const auto missing = static_cast<std::uint64_t>(std::ranges::count_if(all.best, [&](const EvaluatedPlan& plan) {
        return std::ranges::find(found.played, plan.index, &EvaluatedPlan::index) == found.played.end();
    }));
    return missing > found.untried ? missing - found.untried : 0;
}

// space = pruned_bound + pruned_memory + evaluated + untried, and the best of all takes min(the best so far, the least
// of what is left) at least.
TEST(LeftPlans, of_a_search_that_is_cut_anywhere_each_plan_counts_once_and_none_is_below_the_bound) {
    int cuts = 0, with_bound = 0;
    for (const std::uint64_t seed : {1U, 3U, 4U, 5U}) {
        const models::Inputs inputs = drawn_inputs(seed);
        const SpaceRequest request = small_request(seed);
        const SearchResult all = search_plans(inputs, request, {.exhaustive = true, .checks = 0});
        // Floors ask once a shape whether the search is cut.
        const int shapes = static_cast<int>(PlanSpace(inputs, request).shapes().size());
        for (const int looks : {shapes / 2, shapes + 2, shapes + 20, shapes + 60, shapes + 120, shapes + 240}) {
            SCOPED_TRACE("seed " + std::to_string(seed) + ", cut after " + std::to_string(looks));
            const SearchResult found = cut_search(inputs, request, looks);
            EXPECT_EQ(found.space, found.pruned_bound + found.pruned_memory + found.evaluated + found.untried);
            EXPECT_LE(found.pruned_bound, all.space);
            EXPECT_LE(found.pruned_memory, all.pruned_memory);
            EXPECT_EQ(found.was_cut, found.untried > 0);
            EXPECT_EQ(lost_of_best(all, found), 0U);
            const double so_far_s =
                found.best.empty() ? std::numeric_limits<double>::infinity() : to_seconds(found.best.front().step);
            if (found.was_cut && !all.best.empty()) {
                EXPECT_GE(to_seconds(all.best.front().step), std::min(so_far_s, found.least_bound_left_s));
                ++cuts;
                with_bound += found.least_bound_left_s > 0 ? 1 : 0;
            }
            if (found.knows_fastest() && !all.best.empty()) {
                EXPECT_EQ(found.best.front().step, all.best.front().step);
            }
        }
    }
    EXPECT_GT(cuts, 8);
    EXPECT_GT(with_bound, 4);
}

// Nothing is known of plans without floors, however good what an earlier search has found is.
TEST(LeftPlans, of_a_search_that_ends_before_all_have_floors_have_no_bound) {
    const models::Inputs inputs = drawn_inputs(1);
    const SpaceRequest request = small_request(1);
    SearchState known;
    SearchOptions options{.checks = 0, .keep = [&](const SearchState& state) { known = state; }};
    ASSERT_FALSE(search_plans(inputs, request, options).was_cut);
    SearchState played = known;
    played.parts.clear();
    options.from = &played;
    options.is_cut = [] { return true; };
    const SearchResult found = search_plans(inputs, request, options);
    ASSERT_FALSE(found.best.empty());
    EXPECT_TRUE(found.was_cut);
    EXPECT_EQ(found.least_bound_left_s, 0);
    EXPECT_FALSE(found.knows_fastest());
    EXPECT_EQ(found.space, found.pruned_bound + found.pruned_memory + found.evaluated + found.untried);
}

// Where all plans that fit are asked for, every plan is played or does not fit, and no bound decides.
TEST(LeftPlans, too_large_ones_count_once_wherever_the_search_comes_upon_them) {
    std::uint64_t too_large = 0;
    for (const std::uint64_t seed : {1U, 3U}) {
        SCOPED_TRACE(seed);
        models::Inputs inputs = drawn_inputs(seed);
        inputs.machine.tile.hbm_bytes *= 0.3;
        const SearchResult found = search_plans(inputs, small_request(seed), {.top = 1'000'000, .checks = 0});
        EXPECT_EQ(found.pruned_bound, 0U);
        EXPECT_EQ(found.space, found.pruned_memory + found.evaluated);
        too_large += found.best.empty() ? 0 : found.pruned_memory;
    }
    EXPECT_GT(too_large, 100U);
}

}  // namespace
}  // namespace auspex::search
