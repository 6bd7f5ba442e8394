/// @file Load of the heaviest rank and expert under each routing distribution.
#include "models/routing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/rng.hpp"

namespace auspex::models {
namespace {

Routing routing_of(RoutingDistribution kind, double parameter) {
    Routing routing;
    routing.kind = kind;
    routing.parameter = parameter;
    return routing;
}

TEST(Routing, uniform_loads_every_rank_and_expert_with_the_mean) {
    const RoutingLoad load = routing_load({}, 240, 12, 1);
    EXPECT_EQ(load.heaviest_rank, 1);
    EXPECT_EQ(load.heaviest_expert, 1);
}

TEST(Routing, a_trace_is_dealt_in_order_and_compared_with_the_mean) {
    Routing routing = routing_of(RoutingDistribution::kTrace, 0);
    routing.trace_shares = {0.4, 0.1, 0.1, 0.1, 0.1, 0.2};
    const RoutingLoad load = routing_load(routing, 6, 3, 1);
    // Ranks hold 0.5, 0.2, 0.3 of a mean of 1/3; the first expert 0.4 of a mean of 1/6.
    EXPECT_DOUBLE_EQ(load.heaviest_rank, 1.5);
    EXPECT_DOUBLE_EQ(load.heaviest_expert, 2.4);
}

TEST(Routing, every_place_of_a_trace_has_its_own_load) {
    Routing routing = routing_of(RoutingDistribution::kTrace, 0);
    routing.trace_shares = {0.1, 0.1, 0.4, 0.1, 0.1, 0.2};
    const RoutingLoad load = routing_load(routing, 6, 3, 1);
    // Ranks hold 0.2, 0.5, 0.3 of a mean of 1/3.
    ASSERT_EQ(load.by_rank.size(), 3U);
    EXPECT_DOUBLE_EQ(load.by_rank[0], 0.6);
    EXPECT_DOUBLE_EQ(load.by_rank[1], 1.5);
    EXPECT_DOUBLE_EQ(load.by_rank[2], 0.9);
    EXPECT_EQ(load.heaviest_rank, load.by_rank[1]);
}

TEST(Routing, drawn_loads_by_rank_fall_sum_to_the_ranks_and_begin_with_the_heaviest) {
    // Loads are shares over the mean: 12 ranks sum to 12.
    for (const RoutingDistribution kind : {RoutingDistribution::kZipf, RoutingDistribution::kDirichlet}) {
        const RoutingLoad load = routing_load(routing_of(kind, 0.7), 240, 12, 5);
        ASSERT_EQ(load.by_rank.size(), 12U);
        EXPECT_NEAR(load.by_rank.front(), load.heaviest_rank, 1e-12);
        EXPECT_TRUE(std::is_sorted(load.by_rank.rbegin(), load.by_rank.rend()));
        EXPECT_NEAR(std::accumulate(load.by_rank.begin(), load.by_rank.end(), 0.0), 12, 1e-9);
        EXPECT_LT(load.by_rank.back(), 1);
    }
}

TEST(Routing, uniform_routing_names_no_places) { EXPECT_TRUE(routing_load({}, 240, 12, 1).by_rank.empty()); }

TEST(Routing, what_a_router_will_learn_is_taken_as_even) {
    const RoutingLoad load = routing_load(routing_of(RoutingDistribution::kLearned, 0), 240, 12, 1);
    EXPECT_EQ(load.heaviest_rank, 1);
    EXPECT_EQ(load.heaviest_expert, 1);
    EXPECT_TRUE(load.by_rank.empty());
}

TEST(Routing, zipf_of_four_experts_on_four_ranks_is_its_first_share_over_the_mean) {
    const RoutingLoad load = routing_load(routing_of(RoutingDistribution::kZipf, 1), 4, 4, 7);
    // Shares 1, 1/2, 1/3, 1/4 of 25/12: whatever the shuffle, the heaviest holds 12/25 of four ranks.
    EXPECT_NEAR(load.heaviest_rank, 4 * 12.0 / 25, 1e-12);
    EXPECT_NEAR(load.heaviest_expert, 4 * 12.0 / 25, 1e-12);
}

TEST(Routing, zipf_of_four_experts_on_two_ranks_is_the_mean_over_the_three_pairings) {
    const RoutingLoad load = routing_load(routing_of(RoutingDistribution::kZipf, 1), 4, 2, 7, 200'000);
    // The partner of expert 1 is 2, 3 or 4 with equal chance; every pair with 1 is the heavier one: mean of (18, 16,
    // 15)/25 * 2.
    EXPECT_NEAR(load.heaviest_rank, 2 * (18 + 16 + 15) / 75.0, 2e-3);
}

TEST(Routing, zipf_of_exponent_zero_is_uniform) {
    const RoutingLoad load = routing_load(routing_of(RoutingDistribution::kZipf, 0), 64, 8, 3);
    EXPECT_NEAR(load.heaviest_rank, 1, 1e-12);
    EXPECT_NEAR(load.heaviest_expert, 1, 1e-12);
}

TEST(Routing, a_large_dirichlet_concentration_is_nearly_uniform_and_a_tiny_one_picks_one_expert) {
    const RoutingLoad even = routing_load(routing_of(RoutingDistribution::kDirichlet, 1e6), 64, 8, 3);
    EXPECT_NEAR(even.heaviest_rank, 1, 0.01);
    const RoutingLoad one = routing_load(routing_of(RoutingDistribution::kDirichlet, 0.001), 8, 8, 3, 2000);
    // With a -> 0 one expert takes all: 8 times the mean; 8 a << 1 leaves a chance of about 1 % of a second one.
    EXPECT_NEAR(one.heaviest_expert, 8, 0.1);
}

TEST(Routing, the_heavier_of_two_dirichlet_experts_has_the_known_mean) {
    // Two experts with a = 1: the larger share of a uniform cut is 3/4 in the mean, over a mean of 1/2.
    const RoutingLoad load = routing_load(routing_of(RoutingDistribution::kDirichlet, 1), 2, 2, 5, 200'000);
    EXPECT_NEAR(load.heaviest_rank, 1.5, 5e-3);
}

TEST(Routing, one_rank_holds_everything_exactly) {
    EXPECT_DOUBLE_EQ(routing_load(routing_of(RoutingDistribution::kZipf, 1.1), 240, 1, 1).heaviest_rank, 1);
    EXPECT_DOUBLE_EQ(routing_load(routing_of(RoutingDistribution::kDirichlet, 0.3), 240, 1, 1).heaviest_rank, 1);
}

TEST(Routing, a_dense_model_has_no_load_to_speak_of) {
    EXPECT_EQ(routing_load(routing_of(RoutingDistribution::kZipf, 1.1), 0, 1, 1).heaviest_rank, 1);
}

TEST(Routing, the_same_seed_gives_the_same_load_and_another_seed_another) {
    const Routing routing = routing_of(RoutingDistribution::kZipf, 1.1);
    EXPECT_EQ(routing_load(routing, 240, 12, 5).heaviest_rank, routing_load(routing, 240, 12, 5).heaviest_rank);
    EXPECT_NE(routing_load(routing, 240, 12, 5).heaviest_rank, routing_load(routing, 240, 12, 6).heaviest_rank);
}

TEST(Routing, loads_stay_between_the_mean_and_all_on_one) {
    Rng rng(11);
    for (int i = 0; i < 500; ++i) {
        const int ep = 1 + static_cast<int>(rng.below(16));
        const int num_experts = ep * (1 + static_cast<int>(rng.below(8)));
        const bool is_zipf = rng.below(2) == 0;
        const Routing routing = is_zipf ? routing_of(RoutingDistribution::kZipf, 3 * rng.uniform())
                                        : routing_of(RoutingDistribution::kDirichlet, 0.01 + rng.uniform());
        const RoutingLoad load = routing_load(routing, num_experts, ep, rng.next());
        EXPECT_GE(load.heaviest_rank, 1 - 1e-12);
        EXPECT_LE(load.heaviest_rank, ep + 1e-9);
        EXPECT_GE(load.heaviest_expert, load.heaviest_rank - 1e-9);
        EXPECT_LE(load.heaviest_expert, num_experts + 1e-9);
    }
}

}  // namespace
}  // namespace auspex::models
