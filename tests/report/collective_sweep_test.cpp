/// @file The files of a sweep over message sizes.
#include "report/collective_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace auspex {
namespace {

constexpr AlgorithmChoice kRing{CollectiveAlgorithm::kRing, 1}, kTree{CollectiveAlgorithm::kDoubleBinaryTree, 2},
    kRingOfNodes{CollectiveAlgorithm::kRing, 2};

/// Two sizes; the ring is chosen, the tree would be faster.
CollectiveSweep small_sweep() {
    CollectiveSweep sweep;
    sweep.kind = "all-reduce";
    sweep.ranks = sweep.group_size = 96;
    sweep.nodes = 8;
    sweep.machine = "aurora";
    sweep.stack = "optimus";
    sweep.transport = "wires";
    sweep.transport_date = "2026-01";
    sweep.command = "auspex collective <flags>";
    for (const double bytes : {1024.0, 1048576.0}) {
        CollectiveResult point;
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
    EXPECT_NE(text.find("1000.0        1.05        2.10  ring, 1 level"), std::string::npos) << text;
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

}  // namespace
}  // namespace auspex
