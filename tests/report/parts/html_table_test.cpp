/// @file Tables of pages: what a reader, a screen reader and the script find in them.
#include "report/parts/html_table.hpp"

#include <gtest/gtest.h>

#include "markup_fixture.hpp"

namespace auspex::report {
namespace {

TableRows three_rows() {
    return {{{"part"}, main_column(number("time", "s")), {"source"}},
            {{"a"}, number_of("1.00 s", 1), {"<b>"}},
            {{"b"}, number_of("20.0 ms", 0.02), {"x"}},
            {{"c"}, number("3"), {"y"}},
            {{"all", "whole"}, number("4"), {""}}};
}

TEST(HtmlTable, has_a_caption_scopes_and_values_behind_texts_and_escapes_what_it_is_given) {
    const std::string table = html_table(three_rows(), "Times & sources.");
    EXPECT_EQ(first_unbalanced_tag(table), "");
    EXPECT_TRUE(contains(table, "<caption><span>Times &amp; sources.</span></caption>"));
    EXPECT_TRUE(contains(table, "<th scope=\"col\" class=\"n\" data-main>time<small>s</small></th>"));
    EXPECT_TRUE(contains(table, "<th scope=\"row\">a</th><td class=\"n\" data-v=\"1\">1.00 s</td><td>&lt;b&gt;</td>"));
    EXPECT_TRUE(contains(table, "data-v=\"0.02\">20.0 ms</td>"));
}

TEST(HtmlTable, the_whole_stands_below_whatever_is_sorted) {
    const std::string table = html_table(three_rows(), "");
    EXPECT_TRUE(contains(table, "<tfoot>\n<tr><th scope=\"row\" class=\"whole\">all</th>"));
    EXPECT_LT(table.find(">c</th>"), table.find("<tfoot>"));
    EXPECT_FALSE(contains(table, "<caption>"));
}

TEST(HtmlTable, sorts_from_two_rows_on_filters_from_sixteen_unless_the_order_means_something) {
    TableRows rows = three_rows();
    EXPECT_TRUE(contains(html_table(rows, ""), "<table data-sort>"));
    EXPECT_TRUE(contains(html_table(rows, "", {.is_sorted = true}), "<table>"));
    EXPECT_TRUE(contains(html_table({rows[0], rows[1]}, ""), "<table>")) << "one row";
    rows.resize(17, rows[1]);
    EXPECT_TRUE(contains(html_table(rows, ""), "data-sort data-filter=\"part of a row, or COLUMN&gt;=N\""))
        << "sixteen";
    rows.pop_back();
    EXPECT_FALSE(contains(html_table(rows, ""), "data-filter")) << "fifteen";
    EXPECT_TRUE(contains(
        html_table(rows, "", {.id = "plans", .row_name = "plans", .filter_example = "pp<=4", .keeps_address = true}),
        "<table id=\"plans\" data-sort data-filter=\"pp&lt;=4\" data-rows=\"plans\" data-address>"));
}

TEST(HtmlTable, names_may_break_behind_their_dots) {
    EXPECT_TRUE(
        contains(html_table({{{"constant"}}, {{"machine.node_a", "path"}}}, ""), ">machine.<wbr>node_<wbr>a</th>"));
}

}  // namespace
}  // namespace auspex::report
