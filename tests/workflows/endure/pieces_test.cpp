/// @file Pieces out of journals whose times are known.
#include "workflows/endure/pieces.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "journals.hpp"

namespace auspex::workflows {
namespace {

using testing_endure::JournalBuilder;

PieceSamples samples_of_a_killed_run() {
    JournalBuilder journal;
    journal.launch();
    journal.steps(0, 38, 4, true);
    const Kill kill{journal.now_s, 0.3, 0};
    journal.end();
    journal.launch();
    journal.now_s += 0.07;  // the checkpoint is read
    journal.steps(36, 60, 4, true);
    PieceSamples samples;
    add(samples, course_of(journal.events, std::vector<Kill>{kill}, 99.5, journal.now_s + 0.2));
    return samples;
}

TEST(Pieces, are_what_the_journal_was_made_of) {
    const Pieces pieces = pieces_of(samples_of_a_killed_run());
    EXPECT_NEAR(pieces.step.mean_s, 0.01, 1e-9);
    EXPECT_NEAR(pieces.step.error_s, 0, 1e-9);
    EXPECT_NEAR(pieces.stall.mean_s, 0.02, 1e-9);
    EXPECT_NEAR(pieces.warm_up.mean_s, 0.05, 1e-9);
    EXPECT_NEAR(pieces.detection.mean_s, 0.04, 1e-9);
    EXPECT_NEAR(pieces.relaunch.mean_s, 0.01, 1e-9);
    EXPECT_NEAR(pieces.start.mean_s, 0.1, 1e-9);
    EXPECT_NEAR(pieces.initialise.mean_s, 0.3, 1e-9);
    EXPECT_NEAR(pieces.load.mean_s, 0.07, 1e-9);
    EXPECT_NEAR(pieces.end.mean_s, 0.2, 1e-9);
    EXPECT_NEAR(pieces.begin.mean_s, 0.5 + 0.4 + 0.05, 1e-9);  // to the launch, to the first step, its slowness
    EXPECT_NEAR(pieces.dead_s(), 0.15, 1e-9);
    EXPECT_NEAR(pieces.rise_s(), 0.42, 1e-9);
}

TEST(Pieces, add_up_over_runs) {
    PieceSamples both = samples_of_a_killed_run();
    const Pieces once = pieces_of(both);
    add(both, samples_of_a_killed_run());
    const Pieces twice = pieces_of(both);
    EXPECT_EQ(twice.detection.count, 2);
    EXPECT_EQ(twice.step.count, 2 * once.step.count);
    EXPECT_NEAR(twice.step.mean_s, once.step.mean_s, 1e-12);
}

TEST(Pieces, a_timing_is_a_mean_with_its_standard_error) {
    const Timing timing = timing_of(std::vector<double>{1, 2, 3, 4});
    EXPECT_DOUBLE_EQ(timing.mean_s, 2.5);
    EXPECT_NEAR(timing.error_s, std::sqrt(5.0 / 3 / 4), 1e-12);
    EXPECT_EQ(timing.count, 4);
    EXPECT_EQ(timing_of(std::vector<double>{}).count, 0);
    EXPECT_EQ(timing_of(std::vector<double>{7}).error_s, 0);
}

TEST(Pieces, a_load_shorter_than_noise_is_none) {
    PieceSamples samples;
    samples.initialise = {0.30, 0.32};
    samples.load = {0.29};
    EXPECT_EQ(pieces_of(samples).load.mean_s, 0);
}

}  // namespace
}  // namespace auspex::workflows
