/// @file Answers as tables of one observation a row.
#include "report/parts/tidy_csv.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/csv.hpp"

namespace auspex::report {
namespace {

/// Rows without the header, cut; the first columns are those of the inputs.
std::vector<std::vector<std::string>> rows_of(const std::string& json, const TidyGrid& grid = {}) {
    const JsonDocument document = JsonDocument::parse(json, "answer");
    std::vector<std::vector<std::string>> rows;
    const std::string text = tidy_csv(document.root(), grid);
    for (const CsvLine& line : csv_lines(text, "table")) {
        rows.push_back(csv_fields(line.text, line.place));
        EXPECT_EQ(rows.back().size(), 19U) << line.text;
    }
    EXPECT_EQ(rows.front().front(), "machine");
    rows.erase(rows.begin());
    return rows;
}

/// table, name, quantity, value, unit
std::string observation(const std::vector<std::string>& row) {
    std::string text;
    for (std::size_t i = 14; i < row.size(); ++i) {
        text += (i == 14 ? "" : "|") + row[i];
    }
    return text;
}

TEST(TidyCsv, every_row_says_what_it_is_of) {
    const auto rows = rows_of(R"({"machine": "m", "stack": "s", "workload": "w", "plan": "p", "version": "1",
        "overrides": ["plan.pp=4", "a=b"], "tiles": 96, "nodes": 8, "dp": 8, "step_time_s": 1.5})");
    ASSERT_EQ(rows.size(), 1U);
    const std::vector<std::string> expected{"m", "s", "w", "p", "plan.pp=4 a=b", "96", "8",           "",    "8", "",
                                            "",  "",  "",  "1", "result",        "",   "step_time_s", "1.5", "s"};
    EXPECT_EQ(rows[0], expected);
    EXPECT_EQ(rows_of(R"({"step_time_s": 1})", {.tiles = 12, .pp = 3})[0][7], "3");
}

// Keys by name, so that rows come in an order that a test can state.
TEST(TidyCsv, tables_names_and_units_follow_from_the_answer) {
    std::vector<std::string> found;
    for (const auto& row : rows_of(R"({"interval_s": [1, 2], "losses": {"bubble": 0.5}, "mfu": 0.4, "fits": true,
        "notes": ["not a row"], "elapsed_s": 3, "memory": {"peak_bytes": 7, "by_stage": [{"stage": 0, "by_label": {"weights": 3}},
        {"stage": 1, "by_label": {"weights": 4}}]}, "operations": [{"name": "a", "seconds": 2}, {"name": "a", "seconds": 3}],
        "rows": [{"flop_per_s": 1e12}], "recompute": ["norm", "expert"], "nothing": []})")) {
        found.push_back(observation(row));
    }
    const std::vector<std::string> expected{"result||fits|true|",
                                            "result|low|interval_s|1|s",
                                            "result|high|interval_s|2|s",
                                            "losses|bubble|time|0.5|s",
                                            "memory.by_stage.by_label|0/weights|bytes|3|B",
                                            "memory.by_stage.by_label|1/weights|bytes|4|B",
                                            "memory||peak_bytes|7|B",
                                            "result||mfu|0.4|",
                                            "operations|a|seconds|2|s",
                                            "operations|a#2|seconds|3|s",
                                            "result||recompute|norm expert|",
                                            "rows|1|flop_per_s|1000000000000.0|FLOP/s"};
    EXPECT_EQ(found, expected);
}

TEST(TidyCsv, parts_with_a_grid_of_their_own_give_it_to_their_rows) {
    const auto rows =
        rows_of(R"({"tiles": 96, "points": [{"tiles": 12, "tp": 2, "mfu": 0.1}, {"tiles": 24, "mfu": 0.2}],
        "z": [{"plan": {"dp": 3, "tp": 4, "optimizer": "fsdp"}, "mfu": 0.3}]})");
    EXPECT_EQ(rows[0][5], "12");
    EXPECT_EQ(rows[0][11], "2");
    EXPECT_EQ(rows[1][5], "24");
    EXPECT_EQ(rows[1][11], "");
    ASSERT_EQ(rows.size(), 4U);
    for (const std::size_t row : {2U, 3U}) {
        EXPECT_EQ(rows[row][8], "3");
        EXPECT_EQ(rows[row][10], "4") << "etp is tp where a plan does not say it";
    }
}

TEST(TidyCsv, differences_have_the_unit_of_what_they_name) {
    const auto rows = rows_of(R"({"before": "a.json", "losses": [{"name": "bubble", "before": 1, "after": 2}],
        "totals": [{"name": "peak_bytes", "before": 1, "after": 2}, {"name": "mfu", "before": 1, "after": 2}]})");
    std::vector<std::string> units;
    for (const auto& row : rows) {
        if (row[16] == "after") {
            units.push_back(row.back());
        }
    }
    EXPECT_EQ(units, (std::vector<std::string>{"s", "B", ""}));
}

}  // namespace
}  // namespace auspex::report
