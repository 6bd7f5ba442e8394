/// @file Unexplained spreads by hand, and that a case is judged by other sources' alone.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/statistics/distributions.hpp"
#include "compare/evaluate/runs/run_spread.hpp"

namespace auspex::evaluate {
namespace {

const double kReach = normal_reach(0.9);

/// Measured 1 s, predicted exp(reach ln_sigmas) s, with an interval of constants of `constants` sigmas.
ValidatedRun run_of(const std::string& source, const std::string& stack, const std::string& machine, double sigmas,
                    double constants) {
    ValidatedRun one;
    one.run.source_key = source, one.stack = stack, one.machine = machine;
    one.measured = {1, "step"};
    one.predicted_s = std::exp(kReach * sigmas);
    one.constants_s = {one.predicted_s * std::exp(-kReach * constants), one.predicted_s * std::exp(kReach * constants)};
    return one;
}

TEST(RunSpread, missing_is_what_constants_leave_of_an_error) {
    EXPECT_NEAR(missing_sigma(run_of("a", "s", "m", 0.5, 0.3)), 0.4, 1e-12);  // 0.5^2 = 0.3^2 + 0.4^2
    EXPECT_NEAR(missing_sigma(run_of("a", "s", "m", -0.5, 0.3)), 0.4, 1e-12);
    EXPECT_EQ(missing_sigma(run_of("a", "s", "m", 0.2, 0.3)), 0);  // the interval holds by itself
}

/// Missing 0, 0.1, 0.2, 0.3, 0.4, 0.5 in rising order: the 90th percentile is at position 0.9 x 5 = 4.5.
TEST(RunSpread, a_spread_is_the_90th_percentile_of_what_is_missing) {
    std::vector<ValidatedRun> runs;
    for (const double missing : {0.3, 0.0, 0.5, 0.1, 0.4, 0.2}) {
        runs.push_back(run_of(missing < 0.25 ? "a" : "b", "s", "m", missing, 0));
    }
    runs.front().is_fitted = true;  // counts as others do
    runs.push_back(run_of("c", "s", "m", 9, 0));
    runs.back().is_corrected = true;
    runs.push_back(run_of("c", "s", "m", 9, 0));
    runs.back().why_unmapped = "no GPU";
    const auto spreads = spreads_of(runs);
    ASSERT_EQ(spreads.size(), 4U);  // all, of the machine, of the stack, of both
    for (const models::PublishedSpread& one : spreads) {
        EXPECT_NEAR(one.sigma, 0.45, 1e-12);
        EXPECT_EQ(one.runs, 6);
        EXPECT_EQ(one.sources, 2);
    }
    EXPECT_EQ(spreads[0].stack + spreads[0].machine, "");
    const std::string source = "a";
    EXPECT_TRUE(spreads_of(runs, &source).empty());  // three cases are left
}

/// Five runs of a and one of b, however far off: b says nothing of how b's are off, and there is no spread; a second
/// one makes it a source.
TEST(RunSpread, one_run_of_a_source_does_not_count_as_a_source) {
    std::vector<ValidatedRun> runs(5, run_of("a", "s", "m", 0.1, 0));
    runs.push_back(run_of("b", "s", "m", 1.2, 0));
    EXPECT_TRUE(spreads_of(runs).empty());
    runs.push_back(run_of("b", "s", "m", 0.1, 0));
    EXPECT_EQ(spreads_of(runs).size(), 4U);
}

/// Source a is right; b and c are off by 0.6: a is judged by the two others, and held; b by a and c, ten cases at 0.06
/// and at 0.6, of which the 90th percentile is 0.6.
TEST(RunSpread, a_case_is_judged_by_the_spread_of_other_sources) {
    std::vector<ValidatedRun> runs;
    for (int i = 0; i < 5; ++i) {
        runs.push_back(run_of("a", "s", "m", 0.1, 0.08));  // 0.1^2 = 0.08^2 + 0.06^2
        runs.push_back(run_of("b", "s", "m", 0.6, 0));
        runs.push_back(run_of("c", "s", "m", 0.6, 0));
    }
    runs.push_back(run_of("d", "s", "m", 0.61, 0));
    judge_intervals(runs, {});
    for (const ValidatedRun& one : runs) {
        ASSERT_TRUE(one.spread);
        const bool is_d = one.run.source_key == "d";
        EXPECT_NEAR(one.spread->sigma, 0.6, 0.01);
        EXPECT_EQ(one.spread->sources, 3);  // its own is not among them
        EXPECT_EQ(one.spread->runs, is_d ? 15 : 11);
        EXPECT_NEAR(std::log(one.high_s / one.predicted_s) / kReach,
                    std::hypot(one.spread->sigma, one.run.source_key == "a" ? 0.08 : 0), 1e-12);
    }
    EXPECT_TRUE(runs.front().interval_holds());
    EXPECT_FALSE(runs.front().constants_s.holds(1));
    EXPECT_FALSE(runs.back().interval_holds());  // 0.61 is more than the others' 0.6
    EXPECT_NEAR(runs.back().spread->sigma, 0.6, 1e-12);
    const RunSummary of_two = summary_of(std::vector<const ValidatedRun*>{&runs.front(), &runs.back()});
    EXPECT_EQ(of_two.coverage, 0.5);
    EXPECT_EQ(of_two.constants_coverage, 0);
}

/// Five cases of one other source are too few sources.
TEST(RunSpread, without_other_sources_the_interval_is_that_of_constants) {
    std::vector<ValidatedRun> runs(6, run_of("a", "s", "m", 0.1, 0.3));
    runs.resize(11, run_of("b", "s", "m", 0.9, 0.3));
    judge_intervals(runs, {});
    EXPECT_FALSE(runs.front().spread);
    EXPECT_NEAR(runs.front().low_s, runs.front().constants_s.low, 1e-12);
}

/// A user's own few cases: the spread of the runs that came with the program, of the stack as far as it has one.
TEST(RunSpread, with_too_few_other_cases_the_shipped_spread_is_taken) {
    std::vector<ValidatedRun> runs{run_of("a", "s", "m", 0.1, 0.08), run_of("a", "t", "n", 0.1, 0.08)};
    judge_intervals(runs, {{"", "", 20, 3, 0.3}, {"s", "", 9, 2, 0.06}});
    ASSERT_TRUE(runs.front().spread && runs.back().spread);
    EXPECT_EQ(runs.front().spread->runs, 9);
    EXPECT_NEAR(std::log(runs.front().high_s / runs.front().predicted_s) / kReach, 0.1, 1e-12);  // of 0.08 and 0.06
    EXPECT_EQ(runs.back().spread->runs, 20);
    EXPECT_NEAR(std::log(runs.back().high_s / runs.back().predicted_s) / kReach, std::hypot(0.3, 0.08), 1e-12);
}

/// Of exp(+-z s) around 1: (exp(z s) - exp(-z s)) / 2 = sinh(z s), here of the middle one of three.
TEST(RunSpread, half_width_is_the_median_over_the_prediction) {
    std::vector<ValidatedRun> runs{run_of("a", "s", "m", 0, 0.1), run_of("a", "s", "m", 0, 0.2),
                                   run_of("a", "s", "m", 0, 0.3)};
    judge_intervals(runs, {});
    const RunSummary all = summary_of(std::vector<const ValidatedRun*>{&runs[2], &runs[0], &runs[1]});
    EXPECT_NEAR(all.median_half_width, std::sinh(kReach * 0.2), 1e-12);
}

/// Of the stack on the machine at 0.1, of the stack elsewhere at 0.2, of another stack on the machine at 0.3: six each,
/// of two sources.
TEST(RunSpread, stack_and_machine_come_before_the_stack_and_that_before_the_machine) {
    std::vector<ValidatedRun> runs;
    for (int i = 0; i < 6; ++i) {
        const std::string source = i % 2 == 0 ? "a" : "b";
        runs.push_back(run_of(source, "s", "m", 0.1, 0));
        runs.push_back(run_of(source, "s", "n", 0.2, 0));
        runs.push_back(run_of(source, "t", "m", 0.3, 0));
    }
    for (const auto& [stack, machine] :
         {std::pair("s", "m"), std::pair("s", "x"), std::pair("y", "m"), std::pair("y", "x")}) {
        runs.push_back(run_of("d", stack, machine, 0, 0));
    }
    judge_intervals(runs, {});
    const auto spread_of = [&](std::size_t number) { return *runs[18 + number].spread; };
    EXPECT_NEAR(spread_of(0).sigma, 0.1, 1e-12);
    EXPECT_NEAR(spread_of(1).sigma, 0.2, 1e-12);  // of twelve with the stack, six at 0.1 and six at 0.2
    EXPECT_EQ(spread_of(1).runs, 12);
    EXPECT_NEAR(spread_of(2).sigma, 0.3, 1e-12);
    EXPECT_EQ(spread_of(2).machine, "m");
    EXPECT_EQ(spread_of(3).runs, 18);
}

}  // namespace
}  // namespace auspex::evaluate
