/// @file Load of the heaviest rank and expert under each routing distribution.
#include "models/routing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/rng.hpp"

namespace auspex::models {
namespace {

Routing routing_of(RoutingDistribution kind, double parameter) {
    Routing routing;
    routing.kind = kind;
    routing.parameter = parameter;
    routing.alike_layers = true;
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

/// Each of its own.
RoutingLoad load_by_layer(RoutingDistribution kind, double parameter, int num_experts, int ep, int layers,
                          std::uint64_t seed = 1) {
    Routing routing = routing_of(kind, parameter);
    routing.alike_layers = false;
    return routing_load(routing, num_experts, ep, seed, 32, {.count = layers});
}

TEST(Routing, popular_experts_lie_elsewhere_in_each_layer) {
    // Every layer has all of zipf's shares, each time on other ranks; what is waited for is each layer's busiest rank.
    constexpr int kLayers = 40;
    const RoutingLoad load = load_by_layer(RoutingDistribution::kZipf, 1, 64, 8, kLayers);
    ASSERT_EQ(load.layers.size(), static_cast<std::size_t>(kLayers));
    std::set<std::ptrdiff_t> busiest;
    double heaviest = 0;
    for (const LayerLoad& layer : load.layers) {
        const auto most = std::max_element(layer.by_rank.begin(), layer.by_rank.end());
        EXPECT_EQ(*most, layer.heaviest_rank);
        EXPECT_NEAR(std::accumulate(layer.by_rank.begin(), layer.by_rank.end(), 0.0), 8, 1e-9);
        busiest.insert(most - layer.by_rank.begin());
        heaviest += layer.heaviest_rank / kLayers;
    }
    EXPECT_EQ(busiest.size(), 8U) << "forty layers leave out one of eight ranks with a chance of 4 %, this seed none";
    EXPECT_NEAR(load.heaviest_rank, heaviest, 1e-12);
    // Over the layers a rank's load is a mean, far more even than in any of them.
    EXPECT_LT(*std::max_element(load.by_rank.begin(), load.by_rank.end()), 1 + 0.5 * (heaviest - 1));
}

TEST(Routing, layers_of_their_own_have_the_expected_load_of_alike_ones) {
    // The same draws: 3000 layers and the mean of 3000 draws.
    const RoutingLoad own = load_by_layer(RoutingDistribution::kDirichlet, 0.5, 64, 8, 3000, 5);
    const RoutingLoad alike = routing_load(routing_of(RoutingDistribution::kDirichlet, 0.5), 64, 8, 5, 3000);
    EXPECT_NEAR(own.heaviest_rank, alike.heaviest_rank, 1e-12);
    EXPECT_TRUE(alike.layers.empty());
}

TEST(Routing, a_trace_of_each_layer_is_taken_at_its_word) {
    Routing routing;
    routing.kind = RoutingDistribution::kTrace;
    routing.layer_shares = {{0.7, 0.1, 0.1, 0.1}, {0.1, 0.1, 0.1, 0.7}};
    routing.trace_shares = {0.4, 0.1, 0.1, 0.4};
    const RoutingLoad load = routing_load(routing, 4, 2, 1, 32, {.count = 2});
    EXPECT_NEAR(load.heaviest_rank_of(0), 1.6, 1e-12);
    EXPECT_NEAR(load.by_rank_of(0)[1], 0.4, 1e-12);
    EXPECT_NEAR(load.by_rank_of(1)[0], 0.4, 1e-12);
    EXPECT_NEAR(load.by_rank[0], 1, 1e-12) << "over both layers even";
    routing.alike_layers = true;
    EXPECT_NEAR(routing_load(routing, 4, 2, 1, 32, {.count = 2}).heaviest_rank, 1, 1e-12);
}

/// N 4, K 1, S 16, micro-batch 1: 4 rows an expert when even.
Workload four_experts(double capacity, bool pads) {
    Workload w;
    w.layers = 1, w.num_experts = 4, w.top_k = 1, w.sequence_length = 16;
    w.capacity_factor = capacity, w.pad_to_capacity = pads;
    return w;
}

TEST(Capacity, is_the_factor_times_the_even_rows_rounded_up) {
    EXPECT_EQ(expert_capacity(four_experts(1.25, false), 16), 5);
    EXPECT_EQ(expert_capacity(four_experts(1.1, false), 16), 5);
    EXPECT_EQ(expert_capacity(four_experts(0.5, false), 16), 2);
    EXPECT_EQ(even_rows(four_experts(0, false), 16), 4);
    EXPECT_EQ(even_rows(four_experts(1.25, false), 16), 4) << "nothing to drop";
    EXPECT_EQ(even_rows(four_experts(0.5, false), 16), 2);
    EXPECT_EQ(even_rows(four_experts(1.25, true), 16), 5);
    EXPECT_EQ(even_token_rows(four_experts(1.25, true), 16), 4);
}

TEST(Capacity, cuts_what_the_busiest_experts_get_to_the_capacity) {
    // Shares 0.7, 0.1, 0.1, 0.1 of 16 rows: 11.2, 1.6 ...; of 5 rows 5, 1.6, 1.6, 1.6 are left.
    Plan plan;
    plan.ep = 2;
    plan.routing.kind = RoutingDistribution::kTrace;
    plan.routing.trace_shares = {0.7, 0.1, 0.1, 0.1};
    const RoutingLoad load = routing_load(plan, four_experts(1.25, false));
    EXPECT_NEAR(load.heaviest_rank, 6.6 / 8, 1e-12);
    EXPECT_NEAR(load.by_rank[1], 3.2 / 8, 1e-12);
    EXPECT_NEAR(load.dropped, (11.2 - 5) / 16, 1e-12);
    EXPECT_NEAR(load.kept_of_even(), (16 - 6.2) / 16, 1e-12);
    EXPECT_NEAR(load.least(), (16 - 6.2) / 16, 1e-12);
    // Below 1 of what even routing has, which is the capacity itself.
    const RoutingLoad less = routing_load(plan, four_experts(0.5, false));
    EXPECT_NEAR(less.heaviest_rank, (2 + 1.6) / 4, 1e-12);
    EXPECT_NEAR(less.dropped, (9.2) / 16, 1e-12);
}

TEST(Capacity, padded_experts_are_all_alike_whatever_the_routing) {
    Plan plan;
    plan.ep = 2;
    plan.routing.kind = RoutingDistribution::kTrace;
    plan.routing.trace_shares = {0.7, 0.1, 0.1, 0.1};
    const RoutingLoad load = routing_load(plan, four_experts(1.25, true));
    EXPECT_TRUE(load.is_even());
    EXPECT_EQ(load.heaviest_rank, 1);
    EXPECT_NEAR(load.dropped, (11.2 - 5) / 16, 1e-12);
}

TEST(Capacity, of_less_than_one_drops_tokens_of_even_routing_too) {
    Plan plan;
    EXPECT_NEAR(routing_load(plan, four_experts(0.5, false)).dropped, 0.5, 1e-12);
    EXPECT_EQ(routing_load(plan, four_experts(1, false)).dropped, 0);
}

/// Tokens drawn one by one: groups, then experts of them, and the parts that hold any.
double drawn_parts_reached(const TokenSpread& spread, int parts, int tokens) {
    Rng rng(11);
    const int size = spread.experts / spread.groups;
    std::vector<int> groups(static_cast<std::size_t>(spread.groups)), experts;
    std::iota(groups.begin(), groups.end(), 0);
    const auto draw_first = [&rng](std::vector<int>& from, int count) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            std::swap(from[i], from[i + rng.below(from.size() - i)]);
        }
    };
    double reached = 0;
    for (int token = 0; token < tokens; ++token) {
        draw_first(groups, spread.top_groups);
        experts.clear();
        for (int g = 0; g < spread.top_groups; ++g) {
            for (int e = 0; e < size; ++e) {
                experts.push_back(groups[static_cast<std::size_t>(g)] * size + e);
            }
        }
        draw_first(experts, spread.top_k);
        std::vector<bool> hit(static_cast<std::size_t>(parts));
        for (int k = 0; k < spread.top_k; ++k) {
            hit[static_cast<std::size_t>(experts[static_cast<std::size_t>(k)] / (spread.experts / parts))] = true;
        }
        reached += static_cast<double>(std::count(hit.begin(), hit.end(), true));
    }
    return reached / tokens;
}

// One part holds all; as many parts as experts hold one of the K each; one expert is in one part.
TEST(TokenSpread, parts_reached_are_1_of_1_and_k_of_all_and_1_with_one_expert_a_token) {
    for (const int groups : {1, 2, 8}) {
        const TokenSpread spread{48, 5, groups, std::max(1, groups / 2)};
        EXPECT_NEAR(mean_parts_reached(spread, 1), 1, 1e-12);
        EXPECT_NEAR(mean_parts_reached(spread, 48), 5, 1e-12);
        EXPECT_NEAR(mean_parts_reached({48, 1, groups, std::max(1, groups / 2)}, 12), 1, 1e-12);
        EXPECT_NEAR(rows_to_a_node(spread, 6, 6), 1, 1e-12);
    }
}

// DeepSeek-V3 on 8 nodes, a group of 32 experts each: 4 (1 - C(96, 8) / C(128, 8)) nodes; without the limit
// 8 (1 - C(224, 8) / C(256, 8)).
TEST(TokenSpread, a_limit_on_groups_is_one_on_the_nodes_that_hold_them) {
    const auto none_of = [](int others, int all) {
        double miss = 1;
        for (int i = 0; i < 8; ++i) {
            miss *= static_cast<double>(others - i) / (all - i);
        }
        return miss;
    };
    EXPECT_NEAR(mean_parts_reached({256, 8, 8, 4}, 8), 4 * (1 - none_of(96, 128)), 1e-12);
    EXPECT_NEAR(mean_parts_reached({256, 8, 1, 1}, 8), 8 * (1 - none_of(224, 256)), 1e-12);
}

TEST(TokenSpread, parts_that_cut_groups_are_reached_as_often_as_by_drawn_tokens) {
    for (const TokenSpread& spread : {TokenSpread{24, 3, 4, 2}, TokenSpread{60, 6, 5, 3}, TokenSpread{36, 2, 6, 1}}) {
        for (const int parts : {2, 3, 4, 6, 12}) {
            EXPECT_NEAR(mean_parts_reached(spread, parts), drawn_parts_reached(spread, parts, 200'000), 0.01)
                << spread.experts << " experts in " << parts << " parts";
        }
    }
}

}  // namespace
}  // namespace auspex::models
