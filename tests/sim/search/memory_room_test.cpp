/// @file What plans leave of a tile's memory.
#include "sim/search/answers/memory_room.hpp"

#include <gtest/gtest.h>

namespace auspex::search {
namespace {

RankedPlan plan_of(double step_s, double peak_bytes) {
    RankedPlan plan;
    plan.prediction.step_time_s = step_s;
    plan.prediction.memory.peak_bytes = peak_bytes;
    return plan;
}

MemoryRoom room_of(const std::vector<RankedPlan>& ranked) {
    models::Machine machine;
    machine.tile.reserved_bytes = 2e9;
    return memory_room(machine, ranked, 64e9);
}

// Of 64 GB the plans leave 1, 6 and 8 GB: 1/64, 6/64 < 0.1, 8/64 > 0.1.
TEST(MemoryRoom, is_tight_below_a_tenth_and_names_the_first_plan_that_leaves_one) {
    const MemoryRoom room = room_of({plan_of(1, 63e9), plan_of(1.1, 58e9), plan_of(1.25, 56e9), plan_of(1.5, 10e9)});
    EXPECT_DOUBLE_EQ(room.free_share, 1.0 / 64);
    EXPECT_TRUE(room.is_tight());
    ASSERT_TRUE(room.roomier.has_value());
    EXPECT_EQ(*room.roomier, 2U);
    EXPECT_DOUBLE_EQ(room.behind, 0.25);
}

// All that fits leaves 6.4 of 64 GB where these are set aside beside the 2 GB that are.
TEST(MemoryRoom, says_what_has_to_be_set_aside_where_no_plan_leaves_a_tenth) {
    const MemoryRoom room = room_of({plan_of(1, 63e9), plan_of(1.1, 58e9)});
    EXPECT_FALSE(room.roomier.has_value());
    EXPECT_DOUBLE_EQ(room.reserved_bytes, 8.4e9);
}

TEST(MemoryRoom, of_a_best_plan_that_leaves_a_tenth_is_not_tight) {
    const MemoryRoom room = room_of({plan_of(1, 50e9), plan_of(1.1, 40e9)});
    EXPECT_FALSE(room.is_tight());
    EXPECT_EQ(*room.roomier, 0U);
    EXPECT_DOUBLE_EQ(room.behind, 0);
}

}  // namespace
}  // namespace auspex::search
