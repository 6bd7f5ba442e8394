/// @file The files of a sweep over message sizes.
#include "report/scaling/collective_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace auspex::report {
namespace {

constexpr network::AlgorithmChoice kRing{models::CollectiveAlgorithm::kRing, 1},
    kTree{models::CollectiveAlgorithm::kDoubleBinaryTree, 2}, kRingOfNodes{models::CollectiveAlgorithm::kRing, 2};

/// Two sizes; the ring is chosen, the tree would be faster.
CollectiveSweep small_sweep() {
    CollectiveSweep sweep;
    sweep.kind = "all-reduce";
    sweep.ranks = sweep.group_size = 96;
    sweep.nodes = 8;
    sweep.machine = "aurora";
    sweep.stack = "optimus";
    sweep.transport = "dlcomm-2026";
    sweep.transport_date = "2026-04";
    sweep.measured_on = "aurora";
    sweep.placement = "contiguous";
    sweep.by_rule = true;
    sweep.command = "auspex collective <flags>";
    for (const double bytes : {1024.0, 1048576.0}) {
        network::CollectiveResult point;
        point.bytes = bytes;
        point.choice = kRing;
        point.time_s = 1e-3;
        point.bytes_per_s = bytes / 1e-3;
        point.bus_bytes_per_s = 2 * point.bytes_per_s;
        point.bottleneck = "NIC";
        point.alternatives = {{kTree, 5e-4}, {kRing, 1e-3}, {kRingOfNodes, 2e-3}};
        sweep.points.push_back(point);
    }
    return sweep;
}

TEST(CollectiveSweep, sizes_are_written_in_powers_of_1024_where_they_are_whole) {
    EXPECT_EQ(size_text(8), "8 B");
    EXPECT_EQ(size_text(65536), "64 KiB");
    EXPECT_EQ(size_text(1073741824), "1 GiB");
    EXPECT_EQ(size_text(2e9), "2 GB");
}

TEST(CollectiveSweep, csv_has_a_row_for_every_size_and_algorithm_in_si_units) {
    const std::string csv = render_sweep_csv(small_sweep());
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * 3);
    EXPECT_NE(csv.find("\n1024,ring,1,true,0.001,1024000,2048000\n"), std::string::npos) << csv;
    EXPECT_NE(csv.find("\n1024,double-binary-tree,2,false,5e-04,2048000,4096000\n"), std::string::npos) << csv;
}

TEST(CollectiveSweep, tables_show_what_is_chosen_and_what_would_be_faster) {
    const std::string markdown = render_sweep_markdown(small_sweep());
    EXPECT_NE(markdown.find("ring, 1 level"), std::string::npos);
    EXPECT_NE(markdown.find("double-binary-tree, 2 levels"), std::string::npos);
    const std::string text = render_sweep_text(small_sweep());
    EXPECT_NE(text.find("all-reduce over 96 ranks, 8 nodes of aurora"), std::string::npos) << text;
    EXPECT_NE(text.find("1 MiB    1,000        1.05        2.10  ring, 1 level  NIC       "
                        "double-binary-tree, 2 levels: 500 us\n"),
              std::string::npos)
        << text;
}

TEST(CollectiveSweep, the_title_says_which_groups_act_and_where_their_nodes_lie) {
    CollectiveSweep sweep = small_sweep();
    sweep.groups = 12, sweep.group_size = 8, sweep.stride = 12;
    EXPECT_EQ(job_text(sweep), "all-reduce in 12 groups at once, each over 8 ranks 12 apart");
    sweep.alone = true;
    EXPECT_EQ(job_text(sweep), "all-reduce in the first of 12 groups alone, over 8 ranks 12 apart");
    sweep.placement = "random (seed 7)";
    EXPECT_NE(title_of(sweep).find("8 nodes of aurora, placement random (seed 7), optimus"), std::string::npos);
}

TEST(CollectiveSweep, only_a_transport_that_was_measured_on_the_machine_has_a_date) {
    CollectiveSweep sweep = small_sweep();
    EXPECT_EQ(system_text(sweep), "8 nodes of aurora, optimus (transport dlcomm-2026 of 2026-04)");
    sweep.machine = "frontier";
    EXPECT_EQ(system_text(sweep), "8 nodes of frontier, optimus (transport dlcomm-2026, measured on aurora)");
    sweep.measured_on = "none";
    EXPECT_EQ(system_text(sweep), "8 nodes of frontier, optimus (no measured transport)");
}

TEST(CollectiveSweep, small_bandwidths_keep_three_digits) {
    CollectiveSweep sweep = small_sweep();
    sweep.points.front().bytes_per_s = 33'000;
    EXPECT_NE(render_sweep_text(sweep).find("0.0000330"), std::string::npos) << render_sweep_text(sweep);
}

// Both sizes: ring 1 ms, tree 0.5 ms.
TEST(CollectiveSweep, a_note_names_the_sizes_for_which_the_rule_is_slow) {
    CollectiveSweep sweep = small_sweep();
    const std::vector<std::string> notes = slow_rule_notes(sweep, "stacks/optimus.json");
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes.front().find("from 1 KiB to 1 MiB the stack's rule (ring, 1 level) takes up to 2.0 times as long"),
              std::string::npos)
        << notes.front();
    sweep.points.front().time_s = 7e-4;
    EXPECT_NE(slow_rule_notes(sweep, "").front().find("for 1 MiB the stack's rule"), std::string::npos);
    sweep.by_rule = false;
    EXPECT_TRUE(slow_rule_notes(sweep, "").empty());
}

TEST(CollectiveSweep, the_chart_has_a_curve_for_every_algorithm_and_one_for_the_choice_in_both_panels) {
    const std::string svg = sweep_chart(small_sweep());
    std::size_t curves = 0;
    for (std::size_t at = svg.find("<polyline"); at != std::string::npos; at = svg.find("<polyline", at + 1)) {
        ++curves;
    }
    EXPECT_EQ(curves, 2U * 3);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(CollectiveSweep, the_chart_says_of_what_it_is_and_over_how_many_levels_each_curve_runs) {
    CollectiveSweep sweep = small_sweep();
    sweep.points.back().choice = kTree;
    sweep.points.back().alternatives = {{kTree, 5e-4}, {kRingOfNodes, 1e-3}, {kRing, 2e-3}};
    const std::string svg = sweep_chart(sweep);
    for (const char* text :
         {"aria-label=\"all-reduce over 96 ranks, 8 nodes of aurora, optimus (transport dlcomm-2026 of 2026-04). ",
          ">ring, 1 or 2 levels<", ">double-binary-tree, 2 levels<", ">as chosen<"}) {
        EXPECT_NE(svg.find(text), std::string::npos) << text;
    }
    // The choice is named where it begins, in both panels.
    EXPECT_NE(svg.find("class=\"label v0\" text-anchor=\"start\">ring, 1 level<"), std::string::npos);
    EXPECT_NE(svg.find("class=\"label v0\" text-anchor=\"start\">double-binary-tree, 2 levels<"), std::string::npos);
}

TEST(CollectiveSweep, an_algorithm_that_is_timed_for_some_sizes_only_has_a_shorter_curve) {
    CollectiveSweep sweep = small_sweep();
    sweep.points.back().alternatives = {{kRing, 1e-3}};
    const std::string svg = sweep_chart(sweep);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("–"), std::string::npos);
    EXPECT_NE(svg.find(">double-binary-tree, 2 levels<"), std::string::npos);
}

TEST(CollectiveSweep, one_size_has_a_chart_too) {
    CollectiveSweep sweep = small_sweep();
    sweep.points.pop_back();
    const std::string svg = sweep_chart(sweep);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_NE(svg.find("ring, 1 level, 1 KiB: 1 ms"), std::string::npos);
}

TEST(CollectiveSweep, phases_have_latency_and_reduction_in_columns_of_their_own) {
    network::CollectiveResult result;
    result.phases = {{"reduce-scatter between nodes", 7, 20e-6, 300e-6, 1e15, 6.2e9, 1e15 / 6.2e9 + 320e-6, "NIC"}};
    const std::string text = render_phases_text(result);
    EXPECT_NE(text.find("latency  reduction"), std::string::npos) << text;
    EXPECT_NE(text.find(" 20.0 us     300 us "), std::string::npos) << text;
}

}  // namespace
}  // namespace auspex::report
