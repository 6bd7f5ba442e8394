/// @file Several overrides in one text.
#include "interop/overrides.hpp"

#include <gtest/gtest.h>

namespace auspex::interop {
namespace {

using Parts = std::vector<std::string>;

TEST(Overrides, are_parted_where_one_begins_and_nowhere_else) {
    EXPECT_EQ(split_overrides("plan.dp=32 plan.pp=16"), (Parts{"plan.dp=32", "plan.pp=16"}));
    EXPECT_EQ(split_overrides("plan.rank_order=[\"pp\", \"dp\"] stack.can_overlap=[\"dp\"]"),
              (Parts{"plan.rank_order=[\"pp\", \"dp\"]", "stack.can_overlap=[\"dp\"]"}));
    EXPECT_EQ(split_overrides("machine.node.nic.bandwidth=46 Gbit/s"), Parts{"machine.node.nic.bandwidth=46 Gbit/s"});
    EXPECT_EQ(split_overrides("workload.name=a plan. of mine"), Parts{"workload.name=a plan. of mine"});
    EXPECT_EQ(split_overrides("plan.pp = 4"), Parts{"plan.pp = 4"});
    EXPECT_EQ(split_overrides(""), Parts{""});
}

}  // namespace
}  // namespace auspex::interop
