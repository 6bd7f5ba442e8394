/// @file Probes run on every core; what their numbers mean is decided by equations.
#include "compare/probe.hpp"

#include <gtest/gtest.h>

namespace auspex {
namespace {

ProbeReading reading(double seconds, double stolen) { return {seconds, stolen, 1}; }

TEST(Probe, every_core_gives_a_reading) {
    const std::vector<ProbeReading> readings = probe_cores(0.01);
    ASSERT_FALSE(readings.empty());
    for (const ProbeReading& one : readings) {
        EXPECT_GT(one.seconds, 0);
        EXPECT_GE(one.stolen_share, 0);
        EXPECT_LT(one.stolen_share, 1);
        EXPECT_GE(one.worst_ratio, 1);
    }
    EXPECT_GT(probe_seconds(readings), 0);
}

TEST(Probe, stolen_time_and_slow_cores_disturb) {
    // Limits: 5 % stolen on a core, 15 % slower than the reference.
    EXPECT_FALSE(is_disturbed({reading(1, 0.04), reading(1, 0)}, 0));
    EXPECT_TRUE(is_disturbed({reading(1, 0), reading(1, 0.06)}, 0));
    EXPECT_FALSE(is_disturbed({reading(1.14, 0)}, 1));
    EXPECT_TRUE(is_disturbed({reading(1, 0), reading(1.16, 0)}, 1));
    EXPECT_FALSE(is_disturbed({reading(1.16, 0)}, 0)) << "without a reference no core is slow";
}

TEST(Probe, the_work_takes_the_median_of_the_cores) {
    EXPECT_EQ(probe_seconds({reading(3, 0), reading(1, 0), reading(2, 0)}), 2);
}

TEST(Probe, others_have_what_neither_children_nor_idling_explain) {
    // Two cores for 10 s: 20 s in all; busy 9 and stolen 1, of which 6 were our own: (9 + 1 - 6) / 20.
    const CoreClock begin{100, 10, 50, 1000, 2}, end{109, 11, 56, 1010, 2};
    EXPECT_NEAR(share_of_others(begin, end), 0.2, 1e-12);
    EXPECT_EQ(share_of_others(begin, begin), 0);
    const CoreClock own{109, 10, 60, 1010, 2};
    EXPECT_EQ(share_of_others(begin, own), 0) << "ticks are coarse: never below nothing";
}

TEST(Probe, the_kernels_clock_moves_on) {
    const CoreClock begin = core_clock();
    static_cast<void>(probe_cores(0.05));
    const CoreClock end = core_clock();
    EXPECT_GT(end.cores, 0);
    EXPECT_GT(end.wall_s, begin.wall_s);
    EXPECT_GT(end.children_s, begin.children_s) << "this process's own work counts as ours";
}

}  // namespace
}  // namespace auspex
