/// @file Groups of operations, and a chart of two timelines.
#include "report/parts/timeline_chart.hpp"

#include <gtest/gtest.h>

namespace auspex::report {
namespace {

std::string group(const std::string& stream, const std::string& name) {
    return operation_group_name(operation_group(stream, name));
}

TEST(TimelineChart, operations_are_grouped_by_stream_and_name) {
    EXPECT_EQ(group("compute", "attention.backward_input"), "attention");
    EXPECT_EQ(group("compute", "expert_computation.recompute"), "experts");
    EXPECT_EQ(group("compute", "router_top_k"), "norms and router");
    EXPECT_EQ(group("compute", "lm_head.backward_weight"), "embedding, loss");
    EXPECT_EQ(group("compute", "optimizer_update"), "optimizer");
    EXPECT_EQ(group("tp", "tp_all_reduce"), "tp messages");
    EXPECT_EQ(group("ep", "token_return"), "ep messages");
    EXPECT_EQ(group("dp", "gradient_reduce_dense"), "dp messages");
    EXPECT_EQ(group("pp", "send_forward"), "pipeline messages");
    EXPECT_EQ(group("compute", "receive_backward.backward_input"), "pipeline messages");
}

TEST(TimelineChart, both_steps_share_an_axis) {
    // Measured 8 ms, predicted 4 ms: on one axis of 900 - 84 - 16 = 800 units the predicted rectangle is half as wide.
    constexpr Picoseconds kMilli = 1'000'000'000;
    const schedule::Timeline measured{{{"rank 0", "compute"}}, {"attention"}, {{0, 0, 0, 8 * kMilli}}};
    const schedule::Timeline predicted{{{"rank 0", "compute"}}, {"attention"}, {{0, 0, 0, 4 * kMilli}}};
    const std::string chart =
        timeline_chart("a step", {{"measured, 8.00 ms", &measured}, {"predicted, 4.00 ms", &predicted}});
    EXPECT_NE(chart.find("width=\"800.0\""), std::string::npos) << chart;
    EXPECT_NE(chart.find("width=\"400.0\""), std::string::npos) << chart;
    EXPECT_NE(chart.find("measured, 8.00 ms"), std::string::npos);
    EXPECT_NE(chart.find("predicted, 4.00 ms"), std::string::npos);
}

TEST(TimelineChart, many_rows_have_names_where_there_is_room) {
    schedule::Timeline timeline{{}, {"attention"}, {}};
    for (std::uint32_t stage = 0; stage < 64; ++stage) {
        timeline.tracks.push_back({"stage " + std::to_string(stage), "compute"});
        timeline.spans.push_back({stage, 0, 0, 1'000'000});
    }
    const std::string chart = timeline_chart("a step", {{"", &timeline}}, kPhonePicture);
    // Rows of 5 + 2 units: every second one has the 14 that a name takes.
    EXPECT_NE(chart.find(">stage 2<"), std::string::npos);
    EXPECT_EQ(chart.find(">stage 1<"), std::string::npos);
}

}  // namespace
}  // namespace auspex::report
