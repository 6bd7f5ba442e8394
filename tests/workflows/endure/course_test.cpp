/// @file How a run went, by its journal: intervals, recoveries, lost steps.
#include "workflows/endure/course.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "journals.hpp"

namespace auspex::workflows {
namespace {

using testing_endure::JournalBuilder;
using testing_endure::Kind;

TEST(Course, of_a_run_left_alone_has_its_intervals_and_no_recovery) {
    JournalBuilder journal;
    journal.launch();
    journal.steps(0, 12, 4, true);
    const Course course = course_of(journal.events, {}, 99.5, journal.now_s + 0.2);
    EXPECT_TRUE(course.recoveries.empty());
    EXPECT_EQ(course.lost_steps, 0);
    EXPECT_NEAR(course.first_started_s, 100.1, 1e-9);
    EXPECT_NEAR(course.first_step_s, 100.4, 1e-9);
    EXPECT_NEAR(course.over_s - course.saved_s, 0.2, 1e-9);
    ASSERT_EQ(course.intervals.size(), 11U);
    EXPECT_NEAR(course.intervals[0].length_s, 0.06, 1e-9);
    EXPECT_FALSE(course.intervals[2].saves);
    EXPECT_TRUE(course.intervals[3].saves);
    EXPECT_NEAR(course.intervals[3].length_s, 0.03, 1e-9);
    EXPECT_TRUE(course.intervals[4].after_save);
    EXPECT_EQ(course.intervals[4].since_start, 4);
}

TEST(Course, of_a_killed_run_has_the_parts_of_its_recovery_and_the_steps_that_are_lost) {
    JournalBuilder journal;
    journal.launch();
    journal.steps(0, 7, 4, true);  // saved after 4: three steps are lost
    const Kill kill{journal.now_s, 0.3, 1};
    journal.end();
    journal.launch();
    journal.steps(4, 12, 4, true);
    const Course course = course_of(journal.events, std::vector<Kill>{kill}, 99.5, journal.now_s);
    EXPECT_EQ(course.lost_steps, 3);
    ASSERT_EQ(course.recoveries.size(), 1U);
    const RecoveryTimes& one = course.recoveries.front();
    EXPECT_NEAR(one.ended_s - one.killed_s, 0.04, 1e-9);
    EXPECT_NEAR(one.launched_s - one.ended_s, 0.01, 1e-9);
    EXPECT_NEAR(one.started_s - one.launched_s, 0.1, 1e-9);
    EXPECT_NEAR(one.stepped_s - one.started_s, 0.3, 1e-9);
    EXPECT_TRUE(one.loaded);
    EXPECT_NEAR(mean_recovery_s(course), 0.45, 1e-9);
    for (const StepInterval& interval : course.intervals) {
        EXPECT_LT(interval.length_s, 0.1);  // none reaches over the launch
    }
}

/// killed, then killed again while processes start: two recoveries, the first ends where the second begins.
TEST(Course, a_kill_in_a_restart_is_a_recovery_of_its_own) {
    JournalBuilder journal;
    journal.launch();
    journal.steps(0, 6, 4, true);
    std::vector<Kill> kills{{journal.now_s, 0.3, 0}};
    journal.end();
    journal.launch();
    kills.push_back({journal.now_s, 0.5, 0});
    journal.end();
    journal.launch();
    journal.steps(4, 8, 4, true);
    const Course course = course_of(journal.events, kills, 99.5, journal.now_s);
    ASSERT_EQ(course.recoveries.size(), 2U);
    EXPECT_TRUE(std::isnan(course.recoveries[0].stepped_s));
    EXPECT_FALSE(std::isnan(course.recoveries[1].stepped_s));
    EXPECT_EQ(course.lost_steps, 2);
    EXPECT_NEAR(mean_recovery_s(course), 0.45, 1e-9);
}

TEST(Course, a_step_that_the_others_begin_while_a_rank_dies_ends_no_recovery) {
    JournalBuilder journal;
    journal.launch();
    journal.steps(0, 3, 4, true);
    const Kill kill{journal.now_s, 0.1, 1};
    journal.now_s += 1e-4;
    journal.note(Kind::kStep, 3);
    journal.end();
    journal.launch();
    journal.steps(0, 4, 4, true);
    const Course course = course_of(journal.events, std::vector<Kill>{kill}, 99.5, journal.now_s);
    ASSERT_EQ(course.recoveries.size(), 1U);
    EXPECT_NEAR(course.recoveries[0].stepped_s - course.recoveries[0].launched_s, 0.4, 1e-9);
    EXPECT_FALSE(course.recoveries[0].loaded);  // it began anew
    EXPECT_EQ(course.lost_steps, 3);
}

}  // namespace
}  // namespace auspex::workflows
