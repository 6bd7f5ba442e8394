/// @file Errors, noise floor, rankings and verdicts of made-up cases.
#include "compare/evaluate/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace auspex::evaluate {
namespace {

ComparedCase made(const std::string& workload, const std::string& plan, const std::vector<double>& runs,
                  double predicted) {
    ComparedCase one;
    one.workload = workload;
    one.plan = plan;
    for (const double step_s : runs) {
        one.runs.push_back({.step_s = step_s});
    }
    one.predicted_step_s = predicted;
    one.interval_s.low = 0.9 * predicted;
    one.interval_s.high = 1.1 * predicted;
    return one;
}

Comparison summed(std::vector<ComparedCase> cases) {
    Comparison comparison;
    comparison.cases = std::move(cases);
    summarise(comparison);
    return comparison;
}

TEST(Comparison, errors_are_predicted_over_the_median_of_the_runs) {
    // Medians 1, 2, 4; predictions 1.1, 1.9, 4: errors +10 %, -5 %, 0; their absolute median is 5 %, the largest 10 %,
    // and the 90th percentile lies 0.8 of the way from 5 to 10 %.
    const Comparison comparison = summed({made("m", "a", {0.99, 1, 1.01}, 1.1), made("m", "b", {1.98, 2, 2.02}, 1.9),
                                          made("m", "c", {3.96, 4, 4.04}, 4)});
    EXPECT_NEAR(comparison.cases[0].error, 0.1, 1e-12);
    EXPECT_NEAR(comparison.cases[1].error, -0.05, 1e-12);
    EXPECT_NEAR(comparison.errors.median_abs_error, 0.05, 1e-12);
    EXPECT_NEAR(comparison.errors.p90_abs_error, 0.09, 1e-12);
    EXPECT_NEAR(comparison.errors.max_abs_error, 0.1, 1e-12);
    EXPECT_NEAR(comparison.errors.mean_error, 0.05 / 3, 1e-12);
    EXPECT_NEAR(comparison.median_half_width, 0.1, 1e-12);
    // Without a mechanism 1, 1, 4: errors 0, -50 %, 0; the 90th percentile lies 0.8 of the way from 0 to 50 %.
    const WithoutMechanism without = without_mechanism(comparison, "waits", "probe", {1, 1, 4});
    EXPECT_NEAR(without.errors.median_abs_error, 0, 1e-12);
    EXPECT_NEAR(without.errors.p90_abs_error, 0.4, 1e-12);
    EXPECT_NEAR(without.errors.mean_error, -0.5 / 3, 1e-12);
    EXPECT_NEAR(comparison.spread, 4, 1e-12);
    // The range of {0.99, 1, 1.01} is 0.02, 1.693 standard deviations: noise 0.02 / 1.693 of each, and so the floor.
    EXPECT_NEAR(comparison.noise_floor.value(), 0.02 / 1.693, 1e-12);
    EXPECT_TRUE(comparison.cases[0].interval_holds());
    EXPECT_FALSE(comparison.disturbed);
}

TEST(Comparison, a_single_run_has_no_noise) {
    // Noise of b: 0.04 / 1.128 / 2.02. That of a is not 0 but not known, and the median is over b and c alone.
    const Comparison comparison =
        summed({made("m", "a", {1}, 1), made("m", "b", {2, 2.04}, 2), made("m", "c", {4, 4.08}, 4)});
    EXPECT_FALSE(comparison.cases[0].noise.has_value());
    EXPECT_NEAR(comparison.cases[1].noise.value(), 0.04 / 1.128 / 2.02, 1e-12);
    EXPECT_NEAR(comparison.noise_floor.value(), 0.04 / 1.128 / 2.02, 1e-12);
    const Comparison single = summed({made("m", "a", {1}, 1), made("m", "b", {2}, 2)});
    EXPECT_FALSE(single.noise_floor.has_value());
    EXPECT_EQ(single.tau_pairs, 1) << "without a floor every difference counts";
}

TEST(Comparison, errors_are_given_against_all_runs_too) {
    // Counted: 1 and 1.02, median 1.01. All: 1, 1.02, 1.5 and 1.6, median 1.26. Predicted 1.01.
    ComparedCase one = made("m", "a", {1, 1.5, 1.02, 1.6}, 1.01);
    one.runs[1].is_valid = one.runs[3].is_valid = false;
    const Comparison comparison = summed({one, made("m", "b", {2, 2}, 2)});
    EXPECT_NEAR(comparison.cases[0].error, 0, 1e-12);
    EXPECT_NEAR(comparison.cases[0].error_all_runs, 1.01 / 1.26 - 1, 1e-12);
    EXPECT_NEAR(comparison.errors.median_abs_error, 0, 1e-12);
    // Over the two cases, of 0 and 1 - 1.01 / 1.26: half of the way, and nine tenths.
    EXPECT_NEAR(comparison.errors_all_runs.median_abs_error, 0.5 * (1 - 1.01 / 1.26), 1e-12);
    EXPECT_NEAR(comparison.errors_all_runs.p90_abs_error, 0.9 * (1 - 1.01 / 1.26), 1e-12);
}

TEST(Comparison, spreads_are_of_each_workload_and_of_all) {
    // Longest over shortest step: m 3 / 1, w 20 / 10, all 20 / 1.
    const Comparison comparison =
        summed({made("m", "a", {1}, 1), made("m", "b", {3}, 3), made("w", "a", {10}, 10), made("w", "b", {20}, 20)});
    EXPECT_DOUBLE_EQ(comparison.spread, 20) << "20 / 1";
    EXPECT_EQ(comparison.spreads, (std::map<std::string, double>{{"m", 3}, {"w", 2}}));
}

TEST(Comparison, intervals_are_counted_by_number_of_ranks) {
    // Intervals are 0.9 to 1.1 of the prediction: that of 1.05 holds 1, that of 2 does not.
    std::vector<ComparedCase> cases{made("m", "a", {1, 1}, 1.05), made("m", "b", {1, 1}, 2), made("m", "c", {1, 1}, 1)};
    cases[0].ranks = cases[1].ranks = 4;
    const Comparison comparison = summed(cases);
    ASSERT_EQ(comparison.coverage.size(), 2U);
    EXPECT_EQ(comparison.coverage[0].ranks, 1);
    EXPECT_EQ(comparison.coverage[0].holds, 1);
    EXPECT_EQ(comparison.coverage[0].of, 1);
    EXPECT_EQ(comparison.coverage[1].ranks, 4);
    EXPECT_EQ(comparison.coverage[1].holds, 1);
    EXPECT_EQ(comparison.coverage[1].of, 2);
}

TEST(Comparison, rankings_are_within_a_workload) {
    // In each workload one pair, ordered rightly in m and wrongly in w: tau is (1 - 1) / 2. Across workloads the
    // prediction would be wrong too, which must not count.
    const Comparison comparison = summed(
        {made("m", "a", {1, 1}, 10), made("m", "b", {2, 2}, 20), made("w", "a", {3, 3}, 2), made("w", "b", {5, 5}, 1)});
    EXPECT_EQ(comparison.tau_pairs, 2);
    EXPECT_NEAR(comparison.kendall_tau.value(), 0, 1e-12);
    // The predicted best of m is the best; that of w takes 5 where 3 was possible.
    EXPECT_NEAR(comparison.regret_of_predicted_best.value(), 5.0 / 3 - 1, 1e-12);
}

TEST(Comparison, pairs_within_twice_the_noise_do_not_count) {
    // Noise of every case: 0.2 / 1.693 = 11.8 %. a and b differ by 5 %: not counted; c is far from both.
    const auto runs = [](double step) { return std::vector<double>{0.9 * step, step, 1.1 * step}; };
    const Comparison comparison =
        summed({made("m", "a", runs(1), 1.2), made("m", "b", runs(1.05), 1.1), made("m", "c", runs(3), 3)});
    EXPECT_EQ(comparison.tau_pairs, 2);
    EXPECT_NEAR(comparison.kendall_tau.value(), 1, 1e-12);
}

// One layout of each workload ranks nothing; two that differ by less than twice the noise are no pair for tau, but one
// of them is the predicted best.
TEST(Comparison, what_cannot_be_judged_does_not_hold) {
    const Comparison single = summed({made("m", "a", {1, 1}, 1), made("w", "b", {3, 3}, 3)});
    EXPECT_FALSE(single.kendall_tau.has_value());
    EXPECT_FALSE(single.regret_of_predicted_best.has_value());
    const std::vector<Verdict> verdicts = verdicts_of(single);
    EXPECT_EQ(verdicts.at(3).text, "Kendall's tau: no pairs of layouts that differ by more than twice the noise");
    EXPECT_FALSE(verdicts.at(3).holds.has_value());
    EXPECT_EQ(verdicts.at(4).text, "regret of the predicted best: no workload with two layouts");
    EXPECT_FALSE(verdicts.at(4).holds.has_value());
    EXPECT_TRUE(verdicts.at(0).holds.value());
    const Comparison near = summed({made("m", "a", {0.9, 1, 1.1}, 1), made("m", "b", {0.9, 1, 1.1}, 1.1)});
    EXPECT_FALSE(near.kendall_tau.has_value());
    EXPECT_NEAR(near.regret_of_predicted_best.value(), 0, 1e-12);
}

TEST(Comparison, measuring_twice_can_disagree_with_itself) {
    // First halves {1, 1} and {2, 2}: a before b; second halves {4, 4} and {3, 3}: b before a. Noise must not hide it,
    // so that a third, quiet pair of cases of another workload sets the floor to nothing.
    const Comparison comparison =
        summed({made("m", "a", {1, 1, 4, 4}, 1), made("m", "b", {2, 2, 3, 3}, 2), made("w", "a", {1, 1, 1, 1}, 1),
                made("w", "b", {2, 2, 2, 2}, 2), made("w", "c", {3, 3, 3, 3}, 3)});
    // One pair against, three for: (3 - 1) / 4.
    EXPECT_NEAR(comparison.kendall_tau_of_repeats.value(), 0.5, 1e-12);
    EXPECT_EQ(comparison.tau_pairs_of_repeats, 4);
}

TEST(Comparison, a_case_with_a_single_run_has_no_part_in_the_tau_of_repeats) {
    // a before b in the first halves, behind it in the second ones: tau is -1 over that one pair, whatever c
    // has. Three of the five cases with noise are quiet, so that the floor is 0.
    const std::vector<ComparedCase> cases{made("m", "a", {1, 4}, 1), made("m", "b", {2, 3}, 2),
                                          made("m", "c", {9}, 9),    made("v", "a", {1, 1}, 1),
                                          made("w", "a", {1, 1}, 1), made("x", "a", {1, 1}, 1)};
    const Comparison comparison = summed(cases);
    EXPECT_EQ(comparison.tau_pairs_of_repeats, 1);
    EXPECT_NEAR(comparison.kendall_tau_of_repeats.value(), -1, 1e-12);
    // Without a pair it is not known, and the goal of the tau is 0.9.
    const Comparison single = summed({made("m", "a", {1}, 1), made("m", "b", {2}, 2)});
    EXPECT_EQ(single.tau_pairs_of_repeats, 0);
    EXPECT_FALSE(single.kendall_tau_of_repeats.has_value());
    EXPECT_EQ(verdicts_of(single).at(3).text, "Kendall's tau 1.000, at least 0.900");
}

TEST(Comparison, noisy_cases_are_disturbed_and_their_intervals_grow_by_the_slowdown) {
    // Steps of 1, 2 and 3 s: slowest over fastest 3. The interval of 1.9 s ends at 1.1 x 1.9 (made above), and 3
    // times that.
    std::vector<ComparedCase> cases{made("m", "a", {1, 1.001, 0.999}, 1), made("m", "b", {2, 2.002, 1.998}, 2),
                                    made("m", "c", {1, 2, 3}, 1.9)};
    const Comparison comparison = summed(cases);
    EXPECT_TRUE(comparison.disturbed);
    EXPECT_FALSE(comparison.cases[0].disturbed);
    EXPECT_TRUE(comparison.cases[2].disturbed);
    EXPECT_NEAR(comparison.cases[2].slowdown, 3, 1e-12);
    EXPECT_NEAR(comparison.cases[2].interval_s.high, 1.1 * 1.9 * 3, 1e-12);
    ASSERT_EQ(comparison.warnings.size(), 1U);
    EXPECT_NE(comparison.warnings[0].find("c on m"), std::string::npos);
}

/// A case whose steps are 1 / speed^slope; runs count at full speed.
ComparedCase at_speeds(const std::string& plan, const std::vector<double>& speeds, double slope) {
    ComparedCase one = made("m", plan, {}, 1);
    for (const double speed : speeds) {
        one.runs.push_back({std::pow(speed, -slope), speed, speed > 0.91});
    }
    return one;
}

TEST(Comparison, runs_on_slowed_cores_do_not_count) {
    // Full speed is from 0.91 on (at_speeds): 0.7 and 0.5 do not count. Of the others the median and slowest over
    // fastest.
    const Comparison comparison = summed({at_speeds("a", {0.7, 1, 0.98, 1.02, 0.5}, 1), made("m", "b", {2, 2, 2}, 2)});
    EXPECT_NEAR(comparison.cases[0].measured_step_s, 1, 1e-12) << "of 1, 1 / 0.98, 1 / 1.02";
    EXPECT_NEAR(comparison.cases[0].slowdown, 1.02 / 0.98, 1e-12);
    EXPECT_EQ(comparison.cases[0].interval_s.low, 0.9);
    EXPECT_EQ(comparison.cases[0].interval_s.high, 1.1);
    EXPECT_FALSE(comparison.disturbed) << "a speed is no disturbance";
    ASSERT_EQ(comparison.warnings.size(), 1U);
    EXPECT_NE(comparison.warnings[0].find("2 of 8 runs do not count"), std::string::npos) << comparison.warnings[0];
    EXPECT_EQ(comparison.warnings[0].find("never ran"), std::string::npos) << comparison.warnings[0];
}

TEST(Comparison, a_case_without_a_run_at_full_speed_counts_all_and_widens_its_interval) {
    // Speeds 0.6, 0.7, 0.9: quartiles 0.65 and 0.8 around 0.7. The interval of 0.9 to 1.1 grows to 0.9 * 0.7 / 0.8 and
    // 1.1 * 0.7 / 0.65.
    const Comparison comparison = summed({at_speeds("a", {0.6, 0.9, 0.7}, 1), at_speeds("b", {1, 1, 1}, 1)});
    EXPECT_NEAR(comparison.cases[0].measured_step_s, 1 / 0.7, 1e-12);
    EXPECT_NEAR(comparison.cases[0].interval_s.low, 0.9 * 0.7 / 0.8, 1e-12);
    EXPECT_NEAR(comparison.cases[0].interval_s.high, 1.1 * 0.7 / 0.65, 1e-12);
    ASSERT_EQ(comparison.warnings.size(), 1U);
    // S is that of b's runs, 1; speeds of a have a slope of 1.
    EXPECT_NE(comparison.warnings[0].find("1 of 2 layouts never ran without that: all of their runs count, and each is "
                                          "predicted with cores at (s / S)^1.000 of the calibration's speed, s the "
                                          "median speed of its runs, S = 1.000 that of all runs that count; the other "
                                          "layouts are predicted at the calibration's speed"),
              std::string::npos)
        << comparison.warnings[0];
    const Comparison unmoved = summed({at_speeds("a", {0.6, 0.9, 0.7}, 0)});
    EXPECT_EQ(unmoved.cases[0].interval_s.low, 0.9) << "steps that do not follow the cores";
}

TEST(Comparison, what_ran_at_full_speed_is_predicted_at_that_of_the_calibration) {
    // Every run counts, at 0.96 of the calibration's speed by the probe: that is how probes are read, not how fast
    // cores were, and predictions stay as the machine file has them.
    const std::vector<double> speeds =
        speeds_to_predict({at_speeds("a", {0.96, 0.95, 0.97}, 1), at_speeds("b", {0.92, 0.93, 0.7}, 1)});
    EXPECT_EQ(speeds, (std::vector<double>{1, 1}));
}

TEST(Comparison, predictions_follow_the_cores_as_far_as_steps_do) {
    for (const double slope : {0.5, 1.0, 1.5}) {
        const std::vector<ComparedCase> cases{at_speeds("a", {0.6, 0.7, 0.8}, slope),
                                              at_speeds("b", {0.96, 0.95, 0.7, 0.94}, slope),
                                              made("m", "c", {1, 1, 1}, 1)};
        EXPECT_NEAR(speed_slope(cases), slope, 1e-12);
        // S is 0.95, the median of 0.96, 0.95 and 0.94, the runs that count. a has none, and a median of s = 0.7:
        // (s / S)^slope.
        EXPECT_NEAR(usual_speed(cases), 0.95, 1e-12);
        const std::vector<double> speeds = speeds_to_predict(cases);
        EXPECT_NEAR(speeds[0], std::pow(0.7 / 0.95, slope), 1e-12);
        EXPECT_EQ(speeds[1], 1) << "it has runs that count";
        EXPECT_EQ(speeds[2], 1) << "not known";
    }
    // Steps that do not care are predicted as they are.
    EXPECT_EQ(speeds_to_predict({at_speeds("a", {0.6, 0.7, 0.8}, 0)})[0], 1);
    // Steps that are slower on faster cores follow something else; more than twice as much is something else too.
    EXPECT_EQ(speed_slope({at_speeds("a", {0.6, 0.7, 0.8}, -1)}), 0);
    EXPECT_EQ(speed_slope({at_speeds("a", {0.6, 0.7, 0.8}, 3)}), 2);
}

TEST(Comparison, steady_speeds_tell_no_slope) {
    // Within a case speeds differ by less than 2 %: steps are taken to follow them. No run of any case counts: S is 1.
    const std::vector<ComparedCase> cases{at_speeds("a", {0.8, 0.805, 0.81}, 0), at_speeds("b", {0.9, 0.9, 0.9}, 0)};
    EXPECT_EQ(speed_slope(cases), 1);
    EXPECT_EQ(usual_speed(cases), 1);
    EXPECT_NEAR(speeds_to_predict(cases)[0], 0.805, 1e-12);
    EXPECT_NEAR(speeds_to_predict(cases)[1], 0.9, 1e-12);
    // Within 2 % of the calibration nothing is changed; 0.3 and 1.2 are as far as it goes.
    const auto speed_of_uncounted = [](double speed) {
        ComparedCase one = at_speeds("a", {speed, speed}, 1);
        one.runs[0].is_valid = one.runs[1].is_valid = false;
        return speeds_to_predict({one})[0];
    };
    EXPECT_EQ(speed_of_uncounted(1.015), 1);
    EXPECT_EQ(speed_of_uncounted(1.5), 1.2);
    EXPECT_EQ(speed_of_uncounted(0.2), 0.3);
}

TEST(Comparison, goals_follow_the_noise_floor) {
    Comparison comparison;
    comparison.errors.median_abs_error = 0.06;
    comparison.errors.p90_abs_error = 0.13;
    comparison.kendall_tau = 0.85;
    comparison.regret_of_predicted_best = 0.04;
    const auto held = [&comparison] {
        std::string text;
        for (const Verdict& verdict : verdicts_of(comparison)) {
            text += !verdict.holds ? "-" : *verdict.holds ? "y" : "n";
        }
        return text;
    };
    comparison.errors.mean_error = -0.03;
    comparison.coverage = {{1, 8, 10}, {2, 8, 10}};
    comparison.median_half_width = 0.1;
    EXPECT_EQ(held(), "nnnnnn");
    // 7 % noise: errors may be 7 % and 14 %, regret 10 %; tau has to be that of measuring twice only.
    comparison.noise_floor = 0.07;
    comparison.errors.mean_error = 0.02;
    EXPECT_EQ(held(), "yyynyn");
    comparison.kendall_tau_of_repeats = 0.84;
    comparison.coverage = {{1, 8, 10}, {2, 9, 10}};  // 85 %
    EXPECT_EQ(held(), "yyyyyy");
    comparison.median_half_width = 0.16;
    EXPECT_EQ(held(), "yyyyyn") << "wide intervals hold anything";
}

}  // namespace
}  // namespace auspex::evaluate
