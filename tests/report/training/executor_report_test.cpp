/// @file The report of a verification: what passes, what does not, and every file is there.
#include "report/training/executor_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace auspex::report {
namespace {

LayoutCheck good_layout() {
    LayoutCheck check;
    check.workload = "toy-moe", check.grid = "dp 2, ep 2", check.choices = "all-to-all, fused", check.ranks = 4;
    check.forced = kAllowedForced, check.norm = kAllowedNorm, check.learned = kAllowedLearned, check.replayed = 0.0;
    check.first_choice = "none";
    return check;
}

ExecutorReport small_report() {
    ExecutorReport report;
    report.command = "auspex verify --steps 2";
    report.steps = 2, report.global_batch = 8, report.all_layouts = 32;
    report.layouts = {good_layout()};
    report.recoveries = {{"kill -9 of rank 1", "1 restart", true}};
    report.optimizers = {{"dp 2, ep 2", "sharded", 400, 400}, {"dp 2, ep 2", "ep-aware", 300, 300}};
    report.curves = {{"one rank", {{0, 6.2}, {1, 6.0}}}, {"dp 2, ep 2", {{0, 6.2}, {1, 6.0}}}};
    return report;
}

std::string text_of(const std::filesystem::path& file) {
    std::ostringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
}

TEST(ExecutorReport, a_layout_passes_up_to_what_is_allowed) {
    EXPECT_TRUE(good_layout().passed());
    const auto passes = [](auto&& change) {
        LayoutCheck check = good_layout();
        change(check);
        return check.passed();
    };
    EXPECT_FALSE(passes([](LayoutCheck& c) { c.forced = 1.01 * kAllowedForced; }));
    EXPECT_FALSE(passes([](LayoutCheck& c) { c.norm = 1.01 * kAllowedNorm; }));
    EXPECT_FALSE(passes([](LayoutCheck& c) { c.learned = 1.01 * kAllowedLearned; }));
    EXPECT_FALSE(passes([](LayoutCheck& c) { c.replayed = std::numeric_limits<double>::infinity(); }));
    EXPECT_FALSE(passes([](LayoutCheck& c) { c.memory = "rank 1, weights: 1 bytes predicted, 2 measured"; }));
    EXPECT_FALSE(passes([](LayoutCheck& c) { c.counts = "attention: 1 operations predicted, 2 measured"; }));
    EXPECT_FALSE(passes([](LayoutCheck& c) { c.error = "rank 1 died"; }));
    EXPECT_TRUE(passes([](LayoutCheck& c) { c.learned = c.replayed = std::nullopt; }));  // a model without experts
}

TEST(ExecutorReport, everything_has_to_pass) {
    EXPECT_TRUE(small_report().passed());
    EXPECT_EQ(
        verdict_of(small_report()),
        "1 of 32 layouts and 1 recovery case: every one is within what is allowed; memory and counts are equal to "
        "the prediction.");
    ExecutorReport report = small_report();
    report.recoveries.front().passed = false;
    EXPECT_FALSE(report.passed());
    EXPECT_EQ(verdict_of(report),
              "1 of 32 layouts and 1 recovery case: not within what is allowed: 0 layouts and 1 recovery case.");
    report = small_report();
    report.optimizers.back().measured = 301;
    EXPECT_FALSE(report.passed());
}

TEST(ExecutorReport, nothing_passes_where_no_layout_was_compared) {
    ExecutorReport report = small_report();
    report.layouts.clear(), report.recoveries.clear(), report.optimizers.clear();
    EXPECT_FALSE(report.passed());
    EXPECT_EQ(verdict_of(report),
              "0 of 32 layouts: nothing was compared with one rank, for the model fits no layout that was asked for.");
}

TEST(ExecutorReport, differences_read_well) {
    EXPECT_EQ(difference_text(std::nullopt), "-");
    EXPECT_EQ(difference_text(0.0), "0");
    EXPECT_EQ(difference_text(1.234e-7), "1.2e-07");
}

TEST(ExecutorReport, files_carry_the_command_and_the_numbers) {
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / ("auspex-executor-report-" + std::to_string(getpid()));
    write_executor_report(small_report(), folder.string());
    for (const char* name : {"index.html", "report.md"}) {
        const std::string text = text_of(folder / name);
        EXPECT_NE(text.find("auspex verify --steps 2"), std::string::npos) << name;
        EXPECT_NE(text.find("0.7500"), std::string::npos) << name;  // 300 of 400 bytes
    }
    EXPECT_NE(text_of(folder / "layouts.csv")
                  .find("toy-moe,\"dp 2, ep 2\",\"all-to-all, fused\",4,1e-05,1e-04,1e-04,,0,equal,equal,0.0,ok\n"),
              std::string::npos)
        << text_of(folder / "layouts.csv");
    EXPECT_NE(text_of(folder / "recovery.csv").find("kill -9 of rank 1,1 restart,ok\n"), std::string::npos);
    EXPECT_NE(text_of(folder / "loss.svg").find("one rank"), std::string::npos);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace auspex::report
