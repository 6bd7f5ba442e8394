/// @file Headlines, word for word.
#include "report/scaling/headlines.hpp"

#include <gtest/gtest.h>

#include "report_fixture.hpp"

namespace auspex::report {
namespace {

/// 10 s: half of it useful, a third idle, the rest data-parallel communication.
predict::Prediction ten_seconds() {
    predict::Prediction p;
    p.tiles = 3072;
    p.step = to_picoseconds(10);
    p.step_time_s = 10;
    p.mfu = 0.394;
    p.losses[static_cast<std::size_t>(schedule::Loss::kUsefulCompute)] = p.step / 2;
    p.losses[static_cast<std::size_t>(schedule::Loss::kBubble)] = p.step / 3;
    p.losses[static_cast<std::size_t>(schedule::Loss::kExposedDp)] = p.step - p.step / 2 - p.step / 3;
    p.memory.fits = true;
    p.memory.peak_bytes = 80e9;
    p.memory.capacity_bytes = 64e9;
    return p;
}

TEST(Headlines, a_step_is_named_with_its_time_mfu_and_largest_loss) {
    predict::Prediction p = ten_seconds();
    EXPECT_EQ(step_headline("mula", "aurora", p),
              "mula on 3,072 tiles of aurora: 10.0 s a step, 39.4 % MFU; a third of the step is idle pipeline stages");
    EXPECT_NEAR(bubble_share(p), 1.0 / 3, 1e-12);
    p.losses.fill(0);
    p.losses[0] = p.step;
    EXPECT_EQ(largest_loss_clause(p), "useful compute fills the step");
    p.lens = predict::Lens::kCpu;
    p.tiles = 1;
    EXPECT_EQ(step_headline("toy", "local", p),
              "toy on 1 rank of local: 10.0 s a step, 39.4 % MFU; useful compute fills the step");
}

TEST(Headlines, what_does_not_fit_is_said_instead) {
    predict::Prediction p = ten_seconds();
    p.memory.fits = false;
    EXPECT_EQ(
        step_headline("mula", "aurora", p),
        "mula on 3,072 tiles of aurora: 10.0 s a step, 39.4 % MFU; it does not fit: 80.0 GB of the 64.0 GB of a tile");
}

// The fixture's step grows from 5.627 s by 0.102 s a doubling, 0.07 s of it data-parallel communication: 5.627 / 6.137
// = 91.7 %.
TEST(Headlines, weak_scaling_keeps_a_share_of_its_speed_and_loses_the_rest_to_what_grows_most) {
    const std::string headline = scaling_headline(fixture_report());
    EXPECT_TRUE(headline.starts_with(
        "Mula-220B-A10B keeps 91.7 % of its speed a tile from 384 to 12,288 tiles of Aurora (6.14 s a step, "))
        << headline;
    EXPECT_TRUE(headline.ends_with(" MFU); what is lost is mostly data-parallel communication")) << headline;
}

TEST(Headlines, strong_scaling_says_how_much_faster_so_many_times_the_tiles_are) {
    ScalingReport report = fixture_report();
    report.mode = "strong";
    predict::Prediction& last = report.points.back().prediction;
    last.step_time_s = report.points.front().prediction.step_time_s / 20;
    const std::string headline = scaling_headline(report);
    EXPECT_TRUE(headline.starts_with(
        "Mula-220B-A10B gets 20.0 times as fast from 384 to 12,288 tiles of Aurora, with 32.0 times the tiles ("))
        << headline;
    report.points[2].prediction.memory.fits = false;
    EXPECT_TRUE(scaling_headline(report).find("it does not fit: ") != std::string::npos);
    report.mode = "weak";
    EXPECT_TRUE(scaling_headline(report).ends_with(" GB of a tile on 1,536 tiles")) << scaling_headline(report);
}

TEST(Headlines, of_one_point_it_is_that_step) {
    ScalingReport report = fixture_report();
    report.points.resize(1);
    EXPECT_TRUE(scaling_headline(report).starts_with("Mula-220B-A10B on 384 tiles of Aurora: 5.63 s a step, "));
}

}  // namespace
}  // namespace auspex::report
