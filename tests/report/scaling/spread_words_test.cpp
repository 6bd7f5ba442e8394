/// @file Spreads of published runs in words.
#include "report/scaling/spread_words.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/statistics/distributions.hpp"

namespace auspex::report {
namespace {

TEST(SpreadWords, say_which_runs_they_are_of) {
    EXPECT_EQ(spread_runs({"s", "m", 58, 1, 0}), "58 published runs with stack s on m");
    EXPECT_EQ(spread_runs({"s", "", 31, 2, 0}),
              "31 published runs with stack s (too few sources have it on this machine)");
    EXPECT_EQ(spread_runs({"", "m", 80, 2, 0}), "80 published runs on m (too few sources have this stack there)");
    EXPECT_EQ(spread_runs({"", "", 193, 11, 0}),
              "the group of all 193 published runs that has the widest (too few sources, or none, have this stack or "
              "this machine)");
    EXPECT_STREQ(spread_scope({"s", "m", 5, 1, 0}), "stack and machine");
    EXPECT_STREQ(spread_scope({"", "", 5, 1, 0}), "all");
}

/// The upper ends: 1.1 of constants, exp(1.645 sigma) = 1.25 of the spread.
TEST(SpreadWords, say_how_much) {
    predict::Prediction p;
    p.step_time_s = 10, p.step_time_interval_s = {9, 11};
    p.published_spread = {"s", "m", 58, 1, std::log(1.25) / normal_reach(0.9)};
    EXPECT_EQ(spread_words(p), "constants ±10.0 %, unexplained spread of 58 published runs with stack s on m ±25.0 %");
}

}  // namespace
}  // namespace auspex::report
