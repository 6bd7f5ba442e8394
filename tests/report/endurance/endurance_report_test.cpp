/// @file The report of runs that were killed: its verdict, its errors, its files.
#include "report/endurance/endurance_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace auspex::report {
namespace {

EnduranceRow row_of(int every, double mtbf_s, double measured, double replayed, double predicted) {
    EnduranceRow row;
    row.every = every, row.mtbf_s = mtbf_s, row.runs = 2, row.steps = 400, row.kills = 9;
    row.measured = {measured, 20, 30, 0.4}, row.replayed = {replayed, 21, 31, 0.41},
    row.predicted = {predicted, 22, 33, 0.42};
    row.p10 = predicted - 0.05, row.p90 = predicted + 0.05, row.closed_form = predicted;
    row.step_s = row.own_step_s = 0.01, row.losses_equal = true;
    return row;
}

EnduranceReport small_report() {
    EnduranceReport report;
    report.command = "auspex endure --kills 18", report.computer = "a computer, 2 cores", report.workload = "toy-moe";
    report.ranks = 2, report.calibrations = 3;
    report.pieces = {{"step", "a step", 0.01, 0.001, 50}};
    report.rows = {row_of(4, 2, 0.40, 0.41, 0.46), row_of(32, 2, 0.60, 0.58, 0.59)};
    report.best = {best_of(report.rows, 2, 17.25)};
    return report;
}

std::string text_of(const std::filesystem::path& file) {
    std::ostringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
}

TEST(EnduranceReport, errors_are_sizes_of_differences) {
    const EnduranceErrors replay = errors_of(small_report(), of_replay), mean = errors_of(small_report(), of_mean);
    EXPECT_NEAR(replay.largest, 0.02, 1e-9);
    EXPECT_NEAR(replay.mean, 0.015, 1e-9);
    EXPECT_EQ(replay.inside, 2);
    EXPECT_NEAR(mean.largest, 0.06, 1e-9);
    EXPECT_EQ(mean.inside, 1);
    EXPECT_EQ(rows_in_band(small_report()), 1);
}

TEST(EnduranceReport, its_verdict_says_both_errors_and_the_losses) {
    const EnduranceReport report = small_report();
    EXPECT_TRUE(report.passed());
    EXPECT_EQ(report.kills(), 18);
    EXPECT_EQ(
        verdict_of(report),
        "2 settings, 18 kills: goodput is predicted within 2.0 points where the kills that came are played again (all "
        "time within 5.0 % in the mean), and within 6.0 points in the mean over kills that could have come (1 of 2 "
        "measured within its 10 and "
        "90 %). All losses are those of a run that nothing happened to, bit for bit.");
}

TEST(EnduranceReport, times_are_not_judged_but_losses_and_failures_are) {
    EnduranceReport report = small_report();
    report.rows[0].measured.goodput = 0.1;
    EXPECT_TRUE(report.passed());
    report.rows[0].losses_equal = false;
    EXPECT_FALSE(report.passed());
    EXPECT_NE(verdict_of(report).find("NOT ALLOWED"), std::string::npos);
    report.rows[0] = {};
    report.rows[0].error = "mpirun was lost";
    EXPECT_FALSE(report.passed());
    EXPECT_FALSE(EnduranceReport().passed());
}

TEST(EnduranceReport, the_best_interval_is_that_of_the_largest_goodput) {
    const EnduranceBest best = small_report().best.front();
    EXPECT_EQ(best.measured, 32);
    EXPECT_EQ(best.predicted, 32);
    EXPECT_EQ(best_of(small_report().rows, 7, 1).measured, 0);
}

TEST(EnduranceReport, every_file_is_there) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("endurance-" + std::to_string(getpid()));
    write_endurance_report(small_report(), folder.string());
    for (const char* const file : {"index.html", "report.md", "settings.csv", "pieces.csv", "goodput.svg"}) {
        EXPECT_TRUE(std::filesystem::exists(folder / file)) << file;
    }
    const std::string page = text_of(folder / "report.md");
    EXPECT_NE(page.find("auspex endure --kills 18"), std::string::npos);
    EXPECT_NE(page.find("every 32 steps, a kill each 2.00 s"), std::string::npos);
    EXPECT_NE(text_of(folder / "settings.csv").find("32,2,2,400,9"), std::string::npos);
    std::filesystem::remove_all(folder);
}

TEST(EnduranceReport, without_a_run_there_is_no_picture) {
    EnduranceReport report = small_report();
    report.rows = {{}};
    EXPECT_TRUE(goodput_chart(report, 900).empty());
    EXPECT_NE(verdict_of(report).find("nothing could be compared"), std::string::npos);
}

}  // namespace
}  // namespace auspex::report
