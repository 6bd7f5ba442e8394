/// @file Which rank is blamed for a hang, from steps and processor time.
#include "launch/hung_rank.hpp"

#include <gtest/gtest.h>

namespace auspex::launch {
namespace {

using Ticks = std::vector<std::optional<long>>;

TEST(HungRank, is_the_only_one_that_has_not_begun_the_newest_step) {
    EXPECT_EQ(only_rank_behind({7, 7, 6, 7}), 2);
    EXPECT_EQ(only_rank_behind({-1, 0}), 0) << "not even the first one";
    EXPECT_EQ(only_rank_behind({7, 6, 6, 7}), std::nullopt) << "two are behind";
    EXPECT_EQ(only_rank_behind({7, 7}), std::nullopt);
    EXPECT_EQ(only_rank_behind({7}), std::nullopt);
    EXPECT_EQ(only_rank_behind({6, 6, 7}), std::nullopt) << "one is ahead: the others may wait for either";
}

TEST(HungRank, is_the_only_one_that_uses_no_processor_time) {
    EXPECT_EQ(only_idle_rank(Ticks{100, 200, 300}, Ticks{150, 200, 301}), 1);
    EXPECT_EQ(only_idle_rank(Ticks{100, 200}, Ticks{100, 200}), std::nullopt) << "all are idle";
    EXPECT_EQ(only_idle_rank(Ticks{100, 200}, Ticks{101, 201}), std::nullopt);
}

TEST(HungRank, is_none_of_which_nothing_is_known) {
    EXPECT_EQ(only_idle_rank(Ticks{100, std::nullopt}, Ticks{101, std::nullopt}), std::nullopt)
        << "on another host, not idle";
    EXPECT_EQ(only_idle_rank(Ticks{100, 200}, Ticks{101, std::nullopt}), std::nullopt) << "it has ended";
    EXPECT_EQ(only_idle_rank(Ticks{100, std::nullopt}, Ticks{100, 7}), 0);
}

}  // namespace
}  // namespace auspex::launch
