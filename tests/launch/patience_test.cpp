/// @file How long runs and children are waited for, on a clock of the test's own.
#include "launch/patience.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace auspex::launch {
namespace {

/// So many seconds after the clock's beginning.
Time at(double seconds) {
    return Time{} + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds));
}

TEST(HangDetector, a_silent_run_hangs_after_its_limit_and_not_before) {
    HangDetector detector(600, 0, at(5));
    for (const double seconds : {5.0, 300.0, 604.9, 605.0}) {  // the limit itself, 5 + 600, is none too long
        EXPECT_FALSE(detector.finds_hang(at(seconds))) << seconds;
    }
    EXPECT_TRUE(detector.finds_hang(at(605.01)));
    EXPECT_FALSE(detector.finds_hang(at(2000))) << "it is told once";
}

TEST(HangDetector, progress_begins_the_silence_anew) {
    HangDetector detector(10, 100, at(0));
    EXPECT_TRUE(detector.takes_progress(140, at(9)));
    EXPECT_FALSE(detector.takes_progress(140, at(18))) << "the same number is silence";
    EXPECT_FALSE(detector.finds_hang(at(19)));  // 9 + 10
    EXPECT_TRUE(detector.takes_progress(180, at(19)));
    EXPECT_FALSE(detector.finds_hang(at(29)));
    EXPECT_TRUE(detector.finds_hang(at(29.1)));
}

TEST(HangDetector, what_a_run_had_made_before_it_was_watched_is_no_progress) {
    HangDetector detector(10, 100, at(0));
    EXPECT_FALSE(detector.takes_progress(100, at(9)));
    EXPECT_TRUE(detector.finds_hang(at(10.1)));
}

TEST(HangDetector, a_run_without_a_limit_never_hangs) {
    HangDetector detector(0, 0, at(0));
    EXPECT_FALSE(detector.finds_hang(at(1e7)));
}

TEST(HangDetector, a_limit_may_be_a_part_of_a_second) {
    HangDetector detector(0.5, 0, at(0));
    EXPECT_FALSE(detector.finds_hang(at(0.45)));
    EXPECT_TRUE(detector.finds_hang(at(0.55)));
}

TEST(HangDetector, who_was_told_to_end_has_20_seconds_from_the_first_signal_on) {
    HangDetector detector(600, 0, at(0));
    EXPECT_FALSE(detector.is_over(at(100))) << "nobody has told it";
    detector.note_signal(at(100));
    detector.note_signal(at(115));
    EXPECT_TRUE(detector.takes_progress(40, at(119)));  // steps go on: that is no end
    EXPECT_FALSE(detector.is_over(at(120)));
    EXPECT_TRUE(detector.is_over(at(120.1)));
    EXPECT_TRUE(detector.is_over(at(200))) << "and for as long as it lives";
}

TEST(HangDetector, who_hangs_has_20_seconds_from_when_it_was_told) {
    HangDetector detector(10, 0, at(0));
    EXPECT_TRUE(detector.finds_hang(at(11)));
    EXPECT_FALSE(detector.is_over(at(40))) << "the rank is still looked for";
    detector.note_end_of_hang(at(40));
    EXPECT_FALSE(detector.is_over(at(60)));
    EXPECT_TRUE(detector.is_over(at(60.1)));
}

TEST(HangDetector, a_hang_after_a_signal_counts_anew) {
    HangDetector detector(10, 0, at(0));
    detector.note_signal(at(5));
    EXPECT_TRUE(detector.finds_hang(at(11)));
    detector.note_end_of_hang(at(13));
    EXPECT_FALSE(detector.is_over(at(33)));  // 13 + 20, not 5 + 20
    EXPECT_TRUE(detector.is_over(at(33.1)));
}

TEST(TerminationGrace, a_signal_that_the_child_did_not_get_is_told_at_once_and_once) {
    for (const int signal : {SIGTERM, SIGHUP}) {
        TerminationGrace grace;
        EXPECT_FALSE(grace.should_forward_signal(0, at(0)));
        EXPECT_TRUE(grace.should_forward_signal(signal, at(1)));
        EXPECT_FALSE(grace.should_forward_signal(signal, at(100)));
    }
}

TEST(TerminationGrace, after_sigint_it_has_6_seconds_to_end_of_itself) {
    TerminationGrace grace;
    EXPECT_FALSE(grace.should_forward_signal(0, at(0)));
    EXPECT_FALSE(grace.should_forward_signal(SIGINT, at(10)));
    EXPECT_FALSE(grace.should_forward_signal(SIGINT, at(16)));  // 10 + 6
    EXPECT_TRUE(grace.should_forward_signal(SIGINT, at(16.1)));
    EXPECT_FALSE(grace.should_forward_signal(SIGINT, at(17)));
}

TEST(TerminationGrace, another_signal_after_sigint_is_told_at_once) {
    TerminationGrace grace;
    EXPECT_FALSE(grace.should_forward_signal(SIGINT, at(10)));
    EXPECT_TRUE(grace.should_forward_signal(SIGTERM, at(11)));
    EXPECT_FALSE(grace.should_forward_signal(SIGINT, at(30)));
}

}  // namespace
}  // namespace auspex::launch
