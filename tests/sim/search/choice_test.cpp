/// @file How sure a choice is, by hand.
#include "sim/search/answers/choice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace auspex::search {
namespace {

struct Leans {
    const char* path;
    double elasticity, uncertainty;
};

RankedPlan plan_of(double ratio, std::initializer_list<Leans> leanings) {
    RankedPlan plan;
    plan.lead.ratio = ratio;
    for (const Leans& one : leanings) {
        predict::ConstantSensitivity sensitivity;
        sensitivity.constant.path = one.path;
        sensitivity.constant.relative_uncertainty = one.uncertainty;
        sensitivity.elasticity = one.elasticity;
        plan.prediction.top_constants.push_back(sensitivity);
    }
    return plan;
}

// As in lead_test: of the second plan Phi(-ln 1.05 / (0.2 x 0.25)) = 0.164572; 20,000 draws have a deviation of 0.0026.
TEST(Choice, of_two_plans_has_the_probability_of_their_lead) {
    const std::vector<RankedPlan> ranked{plan_of(1, {{"tile.peak", -0.7, 0.3}, {"node.nic", -0.1, 0.25}}),
                                         plan_of(1.05, {{"node.nic", -0.3, 0.25}, {"tile.peak", -0.7, 0.3}})};
    const Choice choice = judge_choice(ranked);
    ASSERT_EQ(choice.probability_best.size(), 2U);
    EXPECT_NEAR(choice.probability_best[1], 0.164572, 4 * 0.0026);
    EXPECT_NEAR(choice.probability_best[0] + choice.probability_best[1], 1, 1e-9);
}

// ln step_1 - ln step_0 = ln 1.05 - 0.2 ln factor: level at factor = 1.05^5, which is 0.24395 / 0.25 deviations off.
TEST(Choice, turns_on_constants_that_plans_lean_on_differently_only) {
    const std::vector<RankedPlan> ranked{plan_of(1, {{"tile.peak", -0.7, 0.3}, {"node.nic", -0.1, 0.25}}),
                                         plan_of(1.05, {{"node.nic", -0.3, 0.25}, {"tile.peak", -0.7, 0.3}}),
                                         plan_of(1.2, {{"node.nic", -0.5, 0.25}})};
    const Choice choice = judge_choice(ranked);
    ASSERT_EQ(choice.constants.size(), 2U);
    // The third does not lean on the tile's peak at all: slower tiles, by 1.2^(-1 / 0.7), lose the first its lead.
    EXPECT_EQ(choice.constants[0].constant.path, "tile.peak");
    EXPECT_EQ(choice.constants[0].rival, 2U);
    EXPECT_NEAR(choice.constants[0].factor, std::pow(1.2, -1 / 0.7), 1e-12);
    EXPECT_EQ(choice.constants[1].constant.path, "node.nic");
    EXPECT_EQ(choice.constants[1].rival, 1U) << "the third needs ln 1.2 / 0.4 = 0.456";
    EXPECT_NEAR(choice.constants[1].factor, std::pow(1.05, 5), 1e-12);
    EXPECT_NEAR(choice.constants[1].deviations, std::log(1.05) / 0.2 / 0.25, 1e-12);
}

TEST(Choice, of_equal_plans_is_shared_and_that_of_one_is_certain) {
    const RankedPlan same = plan_of(1, {{"tile.peak", -0.9, 0.3}});
    const Choice choice = judge_choice({same, same, plan_of(1.01, {{"tile.peak", -0.9, 0.3}})});
    EXPECT_NEAR(choice.probability_best[0], 0.5, 1e-9);
    EXPECT_NEAR(choice.probability_best[1], 0.5, 1e-9);
    EXPECT_EQ(choice.probability_best[2], 0);
    EXPECT_TRUE(choice.constants.empty());
    EXPECT_NEAR(judge_choice({same}).probability_best.front(), 1, 1e-9);
}

}  // namespace
}  // namespace auspex::search
