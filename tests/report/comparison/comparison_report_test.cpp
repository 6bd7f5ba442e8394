/// @file What the page and the text of a comparison say.
#include "report/comparison/comparison_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "report/comparison/comparison_charts.hpp"
#include "report/comparison/comparison_text.hpp"

namespace auspex::report {
namespace {

evaluate::ComparedCase made(const std::string& workload, const std::string& plan, const std::vector<double>& steps_s,
                            double predicted_s) {
    evaluate::ComparedCase one;
    one.workload = workload;
    one.plan = plan;
    for (const double step_s : steps_s) {
        one.runs.push_back({.step_s = step_s});
    }
    one.predicted_step_s = one.interval_s.low = one.interval_s.high = predicted_s;
    return one;
}

evaluate::Comparison summed(std::vector<evaluate::ComparedCase> cases) {
    evaluate::Comparison comparison;
    comparison.cases = std::move(cases);
    summarise(comparison);
    return comparison;
}

bool has_line(const std::vector<std::string>& lines, const std::string& text) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

TEST(ComparisonReport, lines_name_intervals_by_ranks_and_spreads_by_workload) {
    std::vector<evaluate::ComparedCase> cases{made("m", "a", {1, 1}, 1), made("m", "b", {2, 2}, 3),
                                              made("w", "a", {4, 4}, 4)};
    cases[1].ranks = 2;
    const std::vector<std::string> lines = summary_lines(summed(cases));
    EXPECT_TRUE(
        has_line(lines, "2 of the intervals hold, their median width +-0.0 %: 2 of 2 at 1 rank, 0 of 1 at 2 ranks"));
    EXPECT_TRUE(has_line(lines, "slowest over fastest layout 4.00 (m 2.00, w 1.00)"));
}

TEST(ComparisonReport, mechanisms_have_a_row_each_below_that_of_all) {
    evaluate::Comparison comparison = summed({made("m", "a", {1, 1}, 1.02), made("m", "b", {2, 2}, 2.04)});
    EXPECT_TRUE(mechanism_rows(comparison).empty()) << "not asked for";
    comparison.without.push_back(without_mechanism(comparison, "switches", "a token", {0.9, 1.8}));
    const std::vector<std::vector<std::string>> rows = mechanism_rows(comparison);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[1], (std::vector<std::string>{"(nothing: all of them)", "2.0 %", "2.0 %", "+2.0 %", ""}));
    EXPECT_EQ(rows[2], (std::vector<std::string>{"switches", "10.0 %", "10.0 %", "-10.0 %", "a token"}));
}

TEST(ComparisonReport, lines_have_errors_of_counted_and_of_all_runs) {
    // Counted: 1, predicted 1.1. All: 1 and 1.2, median 1.1.
    evaluate::ComparedCase one = made("m", "a", {1, 1.2}, 1.1);
    one.runs[1].is_valid = false;
    const std::vector<std::string> lines = summary_lines(summed({one}));
    EXPECT_TRUE(has_line(lines, "1 layout: median error 10.0 %, 90th percentile 10.0 %"));
    EXPECT_TRUE(has_line(lines, "against all runs measured, those that do not count too: median error 0.0 %"));
}

TEST(ComparisonReport, what_single_runs_cannot_tell_is_not_known) {
    const evaluate::Comparison comparison = summed({made("m", "a", {1}, 1), made("m", "b", {2}, 2)});
    const std::vector<std::string> lines = summary_lines(comparison);
    EXPECT_TRUE(has_line(lines, "noise of a run not known"));
    EXPECT_TRUE(has_line(lines, "one half of the runs against the other not known over 0 pairs"));
    EXPECT_EQ(comparison_rows(comparison)[1][4], "-");
}

TEST(ComparisonReport, a_single_layout_ranks_nothing) {
    const std::vector<std::string> lines = summary_lines(summed({made("m", "a", {1, 1}, 1)}));
    EXPECT_TRUE(has_line(lines, "Kendall's tau not judged over 0 pairs"));
    EXPECT_TRUE(has_line(lines, "is not judged: no workload has two layouts"));
}

TEST(ComparisonReport, operations_with_most_of_the_error_are_named_with_its_sign) {
    evaluate::ComparedCase one = made("m", "a", {1}, 1);
    one.operations = {{"attention", 0.4, 0.3}, {"experts", 0.2, 0.25}, {"norm", 0.1, 0.101}, {"new", 0, 0.02}};
    EXPECT_EQ(largest_errors_text(summed({one})),
              "most of the error, predicted minus measured: attention -100 ms (-25.0 %), experts +50.0 ms (+25.0 %), "
              "new +20.0 ms");
    EXPECT_EQ(largest_errors_text(summed({made("m", "a", {1}, 1)})), "");
}

// Names end where bars begin: that of 34 characters needs some 7 pixels for each.
TEST(ComparisonReport, names_of_operations_are_not_cut) {
    evaluate::ComparedCase one = made("m", "a", {1}, 1);
    one.operations = {{"norm", 0.1, 0.1}, {"expert_computation.backward_weight", 0.4, 0.3}};
    const std::string svg = operation_bars(summed({one}));
    const std::size_t name = svg.find(">expert_computation.backward_weight<");
    ASSERT_NE(name, std::string::npos);
    EXPECT_GT(std::atof(svg.c_str() + svg.rfind("x=\"", name) + 3), 7.0 * 34);
}

TEST(ComparisonReport, layouts_with_an_odd_trace_are_counted) {
    std::vector<evaluate::ComparedCase> cases{made("m", "a", {1}, 1), made("m", "b", {2}, 2)};
    EXPECT_EQ(operations_note(summed(cases)), "");
    cases[1].operations_are_typical = false;
    const evaluate::Comparison comparison = summed(cases);
    EXPECT_TRUE(operations_note(comparison).starts_with("of 1 layout (odd trace)"));
    EXPECT_TRUE(has_line({comparison_rows(comparison)[1].back(), comparison_rows(comparison)[2].back()}, "odd trace"));
}

TEST(ComparisonReport, layouts_that_never_ran_are_named) {
    evaluate::Comparison comparison = summed({made("m", "a", {1}, 1)});
    EXPECT_EQ(failed_text(comparison), "");
    comparison.failed = {{"b", "m", "it ended"}, {"c", "w", "it ended"}};
    EXPECT_EQ(failed_text(comparison), "2 layouts never ran to an end: b on m, c on w");
}

}  // namespace
}  // namespace auspex::report
