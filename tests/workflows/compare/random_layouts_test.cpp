/// @file Drawn layouts: the same for a seed, within the stated ranges, and none that was not taken.
#include "workflows/compare/random_layouts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::workflows {
namespace {

const auto kTakeAll = [](const DrawnLayout&) { return true; };

models::Workload workload_of(const DrawnLayout& drawn) {
    return models::load_workload(JsonDocument::parse(drawn.workload, drawn.workload_name));
}
models::Plan plan_of(const DrawnLayout& drawn) {
    return models::load_plan(JsonDocument::parse(drawn.plan, drawn.plan_name));
}

std::string text_of(const std::vector<DrawnLayout>& all) {
    std::string text;
    for (const DrawnLayout& one : all) {
        text += one.plan_name + one.plan + one.workload_name + one.workload;
    }
    return text;
}

TEST(RandomLayouts, are_the_same_for_a_seed_and_others_for_another) {
    const std::string seven = text_of(draw_layouts({40, 7}, 16, kTakeAll));
    EXPECT_EQ(seven, text_of(draw_layouts({40, 7}, 16, kTakeAll)));
    EXPECT_NE(seven, text_of(draw_layouts({40, 8}, 16, kTakeAll)));
}

// Every text is a workload or plan file; sizes are within the ranges of random_layouts.hpp; four layouts to a model; all
// numbers of ranks up to the most, and each axis, occur.
TEST(RandomLayouts, are_within_their_ranges) {
    std::map<std::string, int> of_model;
    std::set<int> ranks;
    int wide_dp = 0, wide_ep = 0, wide_tp = 0, wide_pp = 0, large = 0, experts = 0;
    const std::vector<DrawnLayout> drawn = draw_layouts({400, 1}, 12, kTakeAll);
    ASSERT_EQ(drawn.size(), 400U);
    for (const DrawnLayout& one : drawn) {
        const models::Workload w = workload_of(one);
        const models::Plan p = plan_of(one);
        ++of_model[one.workload_name];
        const bool is_large = w.vocab_size == 50'304;
        large += is_large ? 1 : 0;
        experts += w.num_experts > 0 ? 1 : 0;
        EXPECT_GE(w.hidden_size, is_large ? 1024 : 64);
        EXPECT_LE(w.hidden_size, is_large ? 2048 : 512);
        EXPECT_GE(w.sequence_length, is_large ? 512 : 64);
        EXPECT_LE(w.sequence_length, is_large ? 2048 : 384);
        EXPECT_LE(w.layers, is_large ? 3 : 8);
        EXPECT_EQ(w.heads % w.kv_heads, 0);
        EXPECT_LE(2 * w.top_k, std::max(2, w.num_experts));
        ranks.insert(p.dp * p.ep * p.tp * p.pp);
        wide_dp += p.dp > 1 ? 1 : 0;
        wide_ep += p.ep > 1 ? 1 : 0;
        wide_tp += p.tp > 1 ? 1 : 0;
        wide_pp += p.pp > 1 ? 1 : 0;
    }
    for (const auto& [name, layouts] : of_model) {
        EXPECT_EQ(layouts, kLayoutsOfAModel) << name;
    }
    EXPECT_EQ(ranks, (std::set{1, 2, 3, 4, 6, 8, 12}));
    EXPECT_GT(std::min({wide_dp, wide_ep, wide_tp, wide_pp}), 40);
    EXPECT_EQ(large, 100);
    EXPECT_NEAR(experts, 280, 80);
}

TEST(RandomLayouts, are_those_that_are_taken) {
    const auto of_two_ranks = [](const DrawnLayout& one) {
        const models::Plan p = plan_of(one);
        return p.dp * p.ep * p.tp * p.pp == 2;
    };
    std::set<std::string> names;
    for (const DrawnLayout& one : draw_layouts({21, 3}, 16, of_two_ranks)) {
        EXPECT_TRUE(of_two_ranks(one)) << one.plan_name;
        EXPECT_TRUE(names.insert(one.plan_name).second) << "every name once: " << one.plan_name;
    }
    EXPECT_EQ(names.size(), 21U);
    EXPECT_THROW(static_cast<void>(draw_layouts({1, 1}, 16, [](const DrawnLayout&) { return false; })), InputError);
}

}  // namespace
}  // namespace auspex::workflows
