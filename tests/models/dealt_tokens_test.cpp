/// @file Tokens dealt out: every one to one rank of cp, to every group of ranks that split its experts.
#include "models/context/dealt_tokens.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace auspex::models {
namespace {

using Runs = std::vector<TokenRun>;

TEST(DealtTokens, a_rank_has_a_part_from_each_end_of_a_sequence) {
    EXPECT_EQ(dealt_positions(16, 1, 0), (Runs{{0, 16}}));
    EXPECT_EQ(dealt_positions(16, 2, 0), (Runs{{0, 4}, {12, 4}}));
    EXPECT_EQ(dealt_positions(16, 2, 1), (Runs{{4, 4}, {8, 4}}));
    EXPECT_EQ(dealt_positions(16, 4, 1), (Runs{{2, 2}, {12, 2}}));
    EXPECT_EQ(dealt_positions(6, 2, 1), (Runs{{3, 3}})) << "not in four parts";
}

/// Under a causal mask position p sees p + 1 keys.
TEST(DealtTokens, all_ranks_have_as_much_to_attend_to) {
    const auto keys_seen = [](int cp, int index) {
        std::int64_t sum = 0;
        for (const std::int64_t position : tokens_of(dealt_positions(48, cp, index))) {
            sum += position + 1;
        }
        return sum;
    };
    for (const int cp : {2, 3, 4, 8}) {
        for (int index = 0; index < cp; ++index) {
            EXPECT_EQ(keys_seen(cp, index), 48 * 49 / 2 / cp) << index << " of " << cp;
        }
    }
}

Plan grid(int dp, int ep, int etp, int tp, int cp) {
    Plan plan;
    plan.name = plan.file = "grid";
    plan.dp = dp, plan.ep = ep, plan.etp = etp, plan.tp = tp, plan.cp = cp;
    plan.micro_batch_size = 2, plan.micro_batches = 2;
    return plan;
}

TEST(DealtTokens, places_follow_one_another_tp_first_then_cp) {
    const Layout layout = rank_grid(grid(2, 2, 2, 2, 2), 8);
    for (int n = 0; n < 8; ++n) {
        const DensePlace place = dense_place(layout, n);
        EXPECT_EQ((place.data * 2 + place.cp) * 2 + place.tp, n);
        const GridCoordinates of_experts = grid_coordinates(layout, layout.rank(0, n));
        EXPECT_EQ(number_in_stage(layout, of_experts), n);
    }
    EXPECT_EQ(dense_place(layout, 3).cp, 1);
    EXPECT_EQ(dense_place(layout, 4).data, 1);
}

/// Over all micro-batches of a step each token is routed by as many ranks as split an expert; without a split of its
/// own by all tp ranks.
TEST(DealtTokens, every_token_of_a_step_is_routed_by_the_ranks_of_one_group) {
    constexpr int kSequence = 16;
    for (const Plan& plan : {grid(2, 2, 1, 1, 1), grid(2, 2, 1, 1, 2), grid(2, 2, 2, 2, 2), grid(2, 2, 1, 2, 1),
                             grid(2, 1, 2, 1, 1), grid(1, 2, 2, 4, 1), grid(2, 2, 4, 2, 1), grid(4, 2, 1, 2, 4)}) {
        const Layout layout = rank_grid(plan, plan.dp * plan.ep * plan.etp);
        std::map<std::int64_t, int> routed;
        for (int n = 0; n < layout.stage_ranks; ++n) {
            for (int m = 0; m < plan.micro_batches; ++m) {
                const std::vector<std::int64_t> tokens = tokens_of(routed_tokens(plan, layout, kSequence, n, m));
                EXPECT_EQ(static_cast<int>(tokens.size()),
                          plan.micro_batch_size * kSequence * plan.etp / (plan.tp * plan.cp));
                for (const std::int64_t token : tokens) {
                    ++routed[token];
                }
                EXPECT_EQ(tokens, tokens_of(routed_tokens(plan, layout, kSequence, n / plan.etp * plan.etp, m)))
                    << "ranks that split an expert route the same tokens";
            }
        }
        EXPECT_EQ(static_cast<int>(routed.size()), layout.global_batch * kSequence);
        EXPECT_TRUE(std::ranges::all_of(routed, [&](const auto& one) { return one.second == plan.etp; }));
    }
}

TEST(DealtTokens, tokens_in_a_row_are_what_all_ranks_have_multiples_of) {
    EXPECT_EQ(common_run(grid(1, 1, 1, 1, 1), 16), 32);
    EXPECT_EQ(common_run(grid(2, 1, 1, 1, 2), 16), 4);
    EXPECT_EQ(common_run(grid(2, 1, 1, 2, 1), 16), 16) << "a slice";
    EXPECT_EQ(common_run(grid(2, 2, 1, 2, 2), 16), 4);
}

}  // namespace
}  // namespace auspex::models
