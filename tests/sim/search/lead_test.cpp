/// @file Leads by hand: errors that both predictions share do not count.
#include "sim/search/answers/lead.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace auspex::search {
namespace {

predict::ConstantSensitivity sensitivity(const char* path, double elasticity, double uncertainty) {
    predict::ConstantSensitivity one;
    one.constant.path = path;
    one.constant.relative_uncertainty = uncertainty;
    one.elasticity = elasticity;
    return one;
}

// ln(2.1 / 2) = 0.04879; the NIC's part is 0.3 - 0.1 = 0.2 of 25 %, sigma = 0.05; 1.645 sigma = 0.08224.
TEST(Lead, is_told_by_what_the_plans_do_not_share) {
    const std::vector<predict::ConstantSensitivity> best{sensitivity("machine.tile.peak", -0.7, 0.3),
                                                         sensitivity("machine.node.nic", -0.1, 0.25)};
    const std::vector<predict::ConstantSensitivity> other{sensitivity("machine.node.nic", -0.3, 0.25),
                                                          sensitivity("machine.tile.peak", -0.7, 0.3)};
    const Lead lead = lead_of(2, best, 2.1, other);
    EXPECT_DOUBLE_EQ(lead.ratio, 1.05);
    EXPECT_NEAR(std::log(lead.interval.high / 1.05), 1.6448536 * 0.05, 1e-8);
    EXPECT_NEAR(std::log(1.05 / lead.interval.low), 1.6448536 * 0.05, 1e-8);
    EXPECT_NEAR(lead.probability_faster, 0.164572, 1e-5) << "Phi(-0.04879 / 0.05) = Phi(-0.97580)";
    EXPECT_TRUE(lead.is_within_uncertainty());
}

TEST(Lead, of_plans_that_lean_on_the_same_is_certain) {
    const std::vector<predict::ConstantSensitivity> both{sensitivity("machine.tile.peak", -0.9, 0.5)};
    const Lead lead = lead_of(1, both, 1.001, both);
    EXPECT_EQ(lead.probability_faster, 0);
    EXPECT_FALSE(lead.is_within_uncertainty());
    EXPECT_EQ(lead.interval.low, lead.interval.high);
    EXPECT_EQ(lead_of(1, both, 1, both).probability_faster, 0.5) << "equal steps";
}

}  // namespace
}  // namespace auspex::search
