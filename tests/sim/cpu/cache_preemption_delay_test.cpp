/// @file What ranks of a core take from one another's caches, by equations.
#include "sim/cpu/cache_preemption_delay.hpp"

#include <gtest/gtest.h>

namespace auspex::cpu {
namespace {

constexpr double kReach = 4e6, kByte = 30e-12;

models::CpuModel cpu_of_one_core() {
    models::CpuModel cpu;
    cpu.cores = 1;
    cpu.core_capacity_bytes = kReach;
    cpu.reload_byte_s = kByte;
    return cpu;
}

RankLocations two_ranks() {
    RankLocations locations;
    locations.of_process.resize(2);
    locations.computers = locations.nics = 1;
    return locations;
}

/// Rank 0 goes through `bytes` of near operands, rank 1 through `others`, then rank 0 through `bytes` again.
double second_turn_s(const models::CpuModel& cpu, bool bound, double bytes, double others) {
    const RankLocations locations = two_ranks();
    CachePreemptionDelay refill(cpu, locations, bound);
    refill.switch_in(0);
    EXPECT_EQ(refill.delay_s(0, bytes, bytes), 0) << "nothing was lost yet";
    refill.switch_out(0);
    refill.switch_in(1);
    EXPECT_EQ(refill.delay_s(1, others, others), 0);
    refill.switch_out(1);
    refill.switch_in(0);
    return refill.delay_s(0, bytes, bytes);
}

TEST(CachePreemptionDelay, what_others_push_out_is_paid_once_per_fresh_byte) {
    // Of 4 MB half is fresh: 2 MB held. With 6 MB of the other, 8 MB are twice the reach: all of it is gone.
    EXPECT_NEAR(second_turn_s(cpu_of_one_core(), true, 4e6, 6e6), 2e6 * kByte, 1e-15);
    // With 4 MB of the other, 6 MB are half way from the reach to twice that: half of it is.
    EXPECT_NEAR(second_turn_s(cpu_of_one_core(), true, 4e6, 4e6), 1e6 * kByte, 1e-15);
    EXPECT_EQ(second_turn_s(cpu_of_one_core(), true, 4e6, 2e6), 0) << "both fit";
}

TEST(CachePreemptionDelay, a_core_holds_no_more_than_its_caches_do) {
    // Half of 12 MB would be held, but 4 MB are. With 1 MB of the other, 5 MB are a quarter of the way to twice the
    // reach: 1 MB is gone.
    EXPECT_NEAR(second_turn_s(cpu_of_one_core(), true, 12e6, 1e6), 1e6 * kByte, 1e-15);
}

TEST(CachePreemptionDelay, nothing_is_lost_alone_unbound_or_where_it_is_not_known) {
    EXPECT_EQ(second_turn_s(cpu_of_one_core(), true, 4e6, 0), 0) << "nobody ran in between";
    EXPECT_EQ(second_turn_s(cpu_of_one_core(), false, 4e6, 6e6), 0) << "not bound to a core";
    models::CpuModel unknown = cpu_of_one_core();
    unknown.reload_byte_s = 0;
    EXPECT_EQ(second_turn_s(unknown, true, 4e6, 6e6), 0);
}

TEST(CachePreemptionDelay, what_is_missing_is_gone_through_once) {
    const models::CpuModel cpu = cpu_of_one_core();
    const RankLocations locations = two_ranks();
    CachePreemptionDelay refill(cpu, locations, true);
    refill.switch_in(0);
    static_cast<void>(refill.delay_s(0, 4e6, 4e6));  // holds 2 MB
    refill.switch_out(0);
    static_cast<void>(refill.delay_s(1, 8e6, 8e6));
    refill.switch_in(0);
    EXPECT_NEAR(refill.delay_s(0, 3e6, 3e6), 1.5e6 * kByte, 1e-15);
    EXPECT_NEAR(refill.delay_s(0, 3e6, 3e6), 0.5e6 * kByte, 1e-15) << "the rest of 2 MB";
    EXPECT_EQ(refill.delay_s(0, 3e6, 3e6), 0);
}

}  // namespace
}  // namespace auspex::cpu
