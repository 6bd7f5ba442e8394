/// @file The page of several sizes of a job: which is over first, which costs least, and what has no plan or no end.
#include "report/plans/sizes_page.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace auspex::report {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

SizeRow row_of(int tiles, double days, double node_hours, bool is_on_front) {
    SizeRow row;
    row.tiles = tiles;
    row.space = 12;
    row.line = "pp 1 dp " + std::to_string(tiles);
    row.step_time_s = 100.0 / tiles;
    const double elapsed_s = days * 86'400;
    row.finish.elapsed_s = {0.9 * elapsed_s, elapsed_s, 1.1 * elapsed_s, elapsed_s};
    row.finish.node_hours = {node_hours, node_hours, node_hours, node_hours};
    row.finish.nodes = tiles / 12;
    row.is_on_front = is_on_front;
    return row;
}

SizesPage page_of() {
    SizesPage page;
    page.subject = "mula-7b-a1b on aurora with optimus, 384 sequences a step";
    page.tokens = 1e12;
    page.samples = 100;
    page.played = 16;
    page.rows = {row_of(96, 20, 4'000, true), row_of(192, 11, 4'500, true), row_of(384, 12, 9'000, false)};
    page.rows.emplace_back();
    page.rows.back().tiles = 500;
    page.rows.back().why_no_plan = "no plan divides tiles and batch";
    page.wanted = 4;
    page.first = 1;
    page.cheapest = 0;
    return page;
}

TEST(SizesPage, says_which_size_is_over_first_and_which_costs_least) {
    const SizesPage page = page_of();
    EXPECT_EQ(sizes_headline(page),
              "Over first of 4 sizes: 192 tiles, half of the runs of 1.00 T tokens after 11 d; fewest node-hours: 96 "
              "tiles, over after 20 d, 4,000 node-hours");
    const std::string html = render_sizes_html(page);
    for (const char* part : {"no plan divides tiles and batch", "pp 1 dp 384", "What a finish costs, by size"}) {
        EXPECT_NE(html.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(html.find("ended early"), std::string::npos);
    EXPECT_EQ(html.find(">nan"), std::string::npos);
    // Marks: two on the front, one behind it; the size without a plan has none.
    const std::string chart = sizes_chart(page, 700);
    EXPECT_NE(chart.find("192 tiles: over after 11 d, 4,500 node-hours"), std::string::npos);
    EXPECT_EQ(chart.find("500 tiles"), std::string::npos);
}

TEST(SizesPage, of_one_size_that_is_both_and_of_a_search_that_was_cut) {
    SizesPage page = page_of();
    page.rows.resize(1);
    page.first = 0;
    EXPECT_NE(sizes_headline(page).find("with the fewest node-hours, too: 4,000"), std::string::npos);
    EXPECT_NE(render_sizes_html(page).find("1 of 4 sizes were searched"), std::string::npos);
    EXPECT_NE(sizes_chart(page, 700), "");
}

TEST(SizesPage, of_runs_that_get_nowhere_has_no_picture) {
    SizesPage page = page_of();
    for (SizeRow& row : page.rows) {
        row.finish.elapsed_s = row.finish.node_hours = {kInfinite, kInfinite, kInfinite, kInfinite};
    }
    EXPECT_NE(sizes_headline(page).find("At none of these sizes does a run end"), std::string::npos);
    EXPECT_EQ(sizes_chart(page, 700), "");
    EXPECT_NE(render_sizes_html(page).find("never"), std::string::npos);
}

}  // namespace
}  // namespace auspex::report
