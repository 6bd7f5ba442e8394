/// @file Probes run on every core; what their numbers mean is decided by equations.
#include "microbench/probe.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <utility>

#include "exec/system/cores.hpp"

namespace auspex::microbench {
namespace {

ProbeReading reading(double seconds, double stolen) { return {seconds, stolen}; }

TEST(Probe, every_core_gives_a_reading) {
    const std::vector<ProbeReading> readings = probe_cores(0.01);
    ASSERT_EQ(readings.size(), exec::allowed_cores().size());
    for (const ProbeReading& one : readings) {
        EXPECT_GT(one.seconds, 0);
        EXPECT_GE(one.stolen_share, 0);
        EXPECT_LT(one.stolen_share, 1);
    }
}

TEST(Probe, stolen_time_and_very_slow_cores_disturb) {
    // Limits: 20 % stolen on a core, twice the reference. What is slower by less is a speed, no disturbance.
    EXPECT_FALSE(is_disturbed({reading(1, 0.19), reading(1, 0)}, 0));
    EXPECT_TRUE(is_disturbed({reading(1, 0), reading(1, 0.21)}, 0));
    EXPECT_FALSE(is_disturbed({reading(1.9, 0)}, 1));
    EXPECT_TRUE(is_disturbed({reading(1, 0), reading(2.1, 0)}, 1));
    EXPECT_FALSE(is_disturbed({reading(2.1, 0)}, 0)) << "without a reference no core is slow";
}

/// Of two cores, at `wall_s`.
CoreClock at(double wall_s, double stolen_s, std::map<int, ProcessClock> processes) {
    return {wall_s, 2, stolen_s, std::move(processes)};
}

ProcessClock other(int parent, double began_s, double own_s, double children_s) {
    return {parent, began_s, own_s, children_s, true};
}

TEST(Probe, others_have_what_they_ran_and_what_was_stolen) {
    // Two cores for 10 s, 20 s in all. Process 7 ran for 2 s, 8 is new and ran for 1 s, 9 is ours, 1 s was stolen:
    // (2 + 1 + 1) / 20.
    const ProcessClock ours{1, 3, 50, 60, false};
    const CoreClock begin = at(1000, 10, {{7, other(2, 5, 30, 0)}, {9, ours}});
    ProcessClock later = ours;
    later.own_s += 10;
    const CoreClock end = at(1010, 11, {{7, other(2, 5, 32, 0)}, {8, other(2, 1002, 1, 0)}, {9, later}});
    EXPECT_NEAR(background_share(begin, end), 0.2, 1e-12);
    EXPECT_TRUE(had_background_load(begin, end));
    EXPECT_EQ(background_share(begin, begin), 0);
}

TEST(Probe, children_that_end_count_once) {
    // 4 had used 20 s before the first reading and 1 s later, then it and its parent 3 end, and 2, who waited for 3,
    // has it all: 21 + 0.5 s. Others had 1 s and 0.5 s, of 20 s.
    const CoreClock begin = at(0, 0, {{2, other(1, 0, 5, 7)}, {3, other(2, 0, 0.5, 0)}, {4, other(3, 0, 20, 0)}});
    const CoreClock end = at(10, 0, {{2, other(1, 0, 5, 7 + 0.5 + 0.5 + 21)}});
    EXPECT_NEAR(background_share(begin, end), 1.5 / 20, 1e-12);
    // Nobody waited for them: what they did is lost, what 2 does is not.
    const CoreClock lost = at(10, 0, {{2, other(1, 0, 6, 7)}});
    EXPECT_NEAR(background_share(begin, lost), 1.0 / 20, 1e-12);
    // Another process has the number of one that has ended: all of its time is new.
    const CoreClock reused = at(10, 0, {{2, other(1, 0, 5, 7)}, {4, other(2, 8, 1, 0)}});
    EXPECT_NEAR(background_share(begin, reused), 1.0 / 20, 1e-12);
}

TEST(Probe, daemons_of_a_launch_are_no_others) {
    // New and adopted by process 1, and what process 1 gets of those that have ended.
    const CoreClock begin = at(0, 0, {{1, other(0, 0, 1, 100)}});
    const CoreClock end = at(10, 0, {{1, other(0, 0, 1, 108)}, {50, other(1, 4, 2, 3)}});
    EXPECT_EQ(background_share(begin, end), 0);
    // One that was there before is another.
    const CoreClock old = at(0, 0, {{1, other(0, 0, 1, 100)}, {50, other(1, -1, 2, 3)}});
    const CoreClock still = at(10, 0, {{1, other(0, 0, 1, 100)}, {50, other(1, -1, 4, 3)}});
    EXPECT_NEAR(background_share(old, still), 0.1, 1e-12);
}

/// Of a child of process 2.
ProcessClock wanting(int core, double wanted_s) {
    ProcessClock process = other(2, 0, 0, 0);
    process.core = core;
    process.runnable_s = wanted_s;
    return process;
}

TEST(Probe, others_of_a_core_are_those_that_wanted_it) {
    // 10 s: on core 1 one wanted it for 9 s and another for 8 s, 17 / 10 are 2 processes; on core 0 4 s are none.
    const CoreClock begin = at(0, 0, {{6, wanting(0, 7)}, {7, wanting(1, 3)}, {8, wanting(1, 0)}});
    const CoreClock end = at(10, 0, {{6, wanting(0, 11)}, {7, wanting(1, 12)}, {8, wanting(1, 8)}});
    EXPECT_EQ(background_by_core(begin, end), (std::vector<int>{0, 2}));
    EXPECT_TRUE(background_by_core(begin, begin).empty());
    const CoreClock idle = at(10, 0, {{6, wanting(0, 11)}});
    EXPECT_TRUE(background_by_core(begin, idle).empty()) << "less than half of the time";
}

TEST(Probe, a_few_ticks_are_nobody) {
    // 30 ms and less are not believed, whatever share of the time they are; nor is a share of 5 % and less.
    const CoreClock begin = at(0, 0, {{7, other(2, 0, 1, 0)}});
    EXPECT_FALSE(had_background_load(begin, at(0.1, 0, {{7, other(2, 0, 1.029, 0)}})));
    EXPECT_TRUE(had_background_load(begin, at(0.1, 0, {{7, other(2, 0, 1.031, 0)}})));
    EXPECT_FALSE(had_background_load(begin, at(1, 0, {{7, other(2, 0, 1.09, 0)}})));
    EXPECT_TRUE(had_background_load(begin, at(1, 0, {{7, other(2, 0, 1.11, 0)}})));
}

TEST(Probe, the_kernels_clock_moves_on) {
    const CoreClock begin = core_clock();
    static_cast<void>(probe_cores(0.05));
    const CoreClock end = core_clock();
    EXPECT_GT(end.cores, 0);
    EXPECT_GT(end.wall_s, begin.wall_s);
    ASSERT_TRUE(end.processes.contains(getpid()));
    const ProcessClock &own = end.processes.at(getpid()), &earlier = begin.processes.at(getpid());
    EXPECT_FALSE(own.is_background);
    EXPECT_EQ(own.parent, getppid());
    EXPECT_EQ(own.began_s, earlier.began_s);
    EXPECT_GT(own.own_s, earlier.own_s) << "the probe's own work";
}

TEST(Probe, what_others_take_is_stolen_time_and_lost_speed) {
    // One core whole; one that did not run for half of the time, at half its speed: 1 - 0.5 x 0.5.
    const std::vector<ProbeReading> readings{{1e-3, 0}, {2e-3, 0.5}};
    EXPECT_DOUBLE_EQ(taken_share(readings, 1e-3), 0.375);
    EXPECT_DOUBLE_EQ(taken_share(readings, 0), 0.25);
    EXPECT_DOUBLE_EQ(taken_share(readings, 4e-3), 0.25) << "faster than the reference";
}

}  // namespace
}  // namespace auspex::microbench
