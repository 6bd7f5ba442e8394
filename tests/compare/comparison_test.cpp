/// @file Errors, noise floor, rankings and verdicts of made-up cases, and operation times of timelines.
#include "compare/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace auspex {
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
    one.interval_low_s = 0.9 * predicted;
    one.interval_high_s = 1.1 * predicted;
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
    EXPECT_NEAR(comparison.median_abs_error, 0.05, 1e-12);
    EXPECT_NEAR(comparison.p90_abs_error, 0.09, 1e-12);
    EXPECT_NEAR(comparison.max_abs_error, 0.1, 1e-12);
    EXPECT_NEAR(comparison.spread, 4, 1e-12);
    // Quartiles of {0.99, 1, 1.01} are 0.995 and 1.005: noise 0.01 / 1.349 of each, and so the floor.
    EXPECT_NEAR(comparison.noise_floor, 0.01 / 1.349, 1e-12);
    EXPECT_TRUE(comparison.cases[0].interval_holds());
    EXPECT_FALSE(comparison.disturbed);
}

TEST(Comparison, rankings_are_within_a_workload) {
    // In each workload one pair, ordered rightly in m and wrongly in w: tau is (1 - 1) / 2. Across workloads the
    // prediction would be wrong too, which must not count.
    const Comparison comparison = summed(
        {made("m", "a", {1, 1}, 10), made("m", "b", {2, 2}, 20), made("w", "a", {3, 3}, 2), made("w", "b", {5, 5}, 1)});
    EXPECT_EQ(comparison.tau_pairs, 2);
    EXPECT_NEAR(comparison.kendall_tau, 0, 1e-12);
    // The predicted best of m is the best; that of w takes 5 where 3 was possible.
    EXPECT_NEAR(comparison.regret_of_predicted_best, 5.0 / 3 - 1, 1e-12);
}

TEST(Comparison, pairs_within_twice_the_noise_do_not_count) {
    // Noise of every case: 0.1 / 1.349 = 7.4 % (quartiles 0.95 and 1.05 of the median). a and b differ by 5 %: not
    // counted; c is far from both.
    const auto runs = [](double step) { return std::vector<double>{0.9 * step, step, 1.1 * step}; };
    const Comparison comparison =
        summed({made("m", "a", runs(1), 1.2), made("m", "b", runs(1.05), 1.1), made("m", "c", runs(3), 3)});
    EXPECT_EQ(comparison.tau_pairs, 2);
    EXPECT_NEAR(comparison.kendall_tau, 1, 1e-12);
}

TEST(Comparison, measuring_twice_can_disagree_with_itself) {
    // First halves {1, 1} and {2, 2}: a before b; second halves {4, 4} and {3, 3}: b before a. Noise must not hide it,
    // so that a third, quiet pair of cases of another workload sets the floor to nothing.
    const Comparison comparison =
        summed({made("m", "a", {1, 1, 4, 4}, 1), made("m", "b", {2, 2, 3, 3}, 2), made("w", "a", {1, 1, 1, 1}, 1),
                made("w", "b", {2, 2, 2, 2}, 2), made("w", "c", {3, 3, 3, 3}, 3)});
    // One pair against, three for: (3 - 1) / 4.
    EXPECT_NEAR(comparison.kendall_tau_of_repeats, 0.5, 1e-12);
}

TEST(Comparison, noisy_cases_are_disturbed_and_their_intervals_grow_by_the_slowdown) {
    std::vector<ComparedCase> cases{made("m", "a", {1, 1.001, 0.999}, 1), made("m", "b", {2, 2.002, 1.998}, 2),
                                    made("m", "c", {1, 2, 3}, 1.9)};
    const Comparison comparison = summed(cases);
    EXPECT_TRUE(comparison.disturbed);
    EXPECT_FALSE(comparison.cases[0].disturbed);
    EXPECT_TRUE(comparison.cases[2].disturbed);
    EXPECT_NEAR(comparison.cases[2].slowdown, 3, 1e-12);
    EXPECT_NEAR(comparison.cases[2].interval_high_s, 1.1 * 1.9 * 3, 1e-12);
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
    const Comparison comparison = summed({at_speeds("a", {0.7, 1, 0.98, 1.02, 0.5}, 1), made("m", "b", {2, 2, 2}, 2)});
    EXPECT_NEAR(comparison.cases[0].measured_step_s, 1, 1e-12) << "of 1, 1 / 0.98, 1 / 1.02";
    EXPECT_NEAR(comparison.cases[0].slowdown, 1.02 / 0.98, 1e-12);
    EXPECT_EQ(comparison.cases[0].interval_low_s, 0.9);
    EXPECT_EQ(comparison.cases[0].interval_high_s, 1.1);
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
    EXPECT_NEAR(comparison.cases[0].interval_low_s, 0.9 * 0.7 / 0.8, 1e-12);
    EXPECT_NEAR(comparison.cases[0].interval_high_s, 1.1 * 0.7 / 0.65, 1e-12);
    ASSERT_EQ(comparison.warnings.size(), 1U);
    EXPECT_NE(comparison.warnings[0].find("1 of 2 layouts never ran without that"), std::string::npos)
        << comparison.warnings[0];
    const Comparison unmoved = summed({at_speeds("a", {0.6, 0.9, 0.7}, 0)});
    EXPECT_EQ(unmoved.cases[0].interval_low_s, 0.9) << "steps that do not follow the cores";
}

TEST(Comparison, predictions_follow_the_cores_as_far_as_steps_do) {
    for (const double slope : {0.0, 0.5, 1.0, 1.5}) {
        const std::vector<ComparedCase> cases{at_speeds("a", {0.6, 0.7, 0.8}, slope),
                                              at_speeds("b", {0.96, 0.95, 0.7, 0.94}, slope),
                                              made("m", "c", {1, 1, 1}, 1)};
        EXPECT_NEAR(speed_slope(cases), slope, 1e-12);
        // b has runs that count, whose median is 0.95; a has none, and a median of 0.7.
        const std::vector<double> speeds = speeds_to_predict(cases);
        EXPECT_NEAR(speeds[0], 0.95 * std::pow(0.7 / 0.95, slope), 1e-12);
        EXPECT_NEAR(speeds[1], 0.95, 1e-12);
        EXPECT_EQ(speeds[2], 1) << "not known";
    }
    // Steps that are slower on faster cores follow something else; more than twice as much is something else too.
    EXPECT_EQ(speed_slope({at_speeds("a", {0.6, 0.7, 0.8}, -1)}), 0);
    EXPECT_EQ(speed_slope({at_speeds("a", {0.6, 0.7, 0.8}, 3)}), 2);
}

TEST(Comparison, steady_speeds_tell_no_slope) {
    // Within a case speeds differ by less than 2 %: steps are taken to follow them.
    const std::vector<ComparedCase> cases{at_speeds("a", {0.8, 0.805, 0.81}, 0), at_speeds("b", {0.9, 0.9, 0.9}, 0)};
    EXPECT_EQ(speed_slope(cases), 1);
    EXPECT_NEAR(speeds_to_predict(cases)[0], 0.805, 1e-12);
    EXPECT_NEAR(speeds_to_predict(cases)[1], 0.9, 1e-12);
    // Within 2 % of the calibration nothing is changed; 0.3 and 1.2 are as far as it goes.
    EXPECT_EQ(speeds_to_predict({at_speeds("a", {1.015, 1.015}, 1)})[0], 1);
    EXPECT_EQ(speeds_to_predict({at_speeds("a", {1.5, 1.5}, 1)})[0], 1.2);
    EXPECT_EQ(speeds_to_predict({at_speeds("a", {0.2, 0.2}, 1)})[0], 0.3);
}

TEST(Comparison, goals_follow_the_noise_floor) {
    Comparison comparison;
    comparison.median_abs_error = 0.06;
    comparison.p90_abs_error = 0.13;
    comparison.kendall_tau = 0.85;
    comparison.regret_of_predicted_best = 0.04;
    const auto held = [&comparison] {
        std::string text;
        for (const Verdict& verdict : verdicts_of(comparison)) {
            text += verdict.holds ? "y" : "n";
        }
        return text;
    };
    EXPECT_EQ(held(), "nnnn");
    // 7 % noise: errors may be 7 % and 14 %, regret 10 %; tau has to be that of measuring twice only.
    comparison.noise_floor = 0.07;
    EXPECT_EQ(held(), "yyny");
    comparison.kendall_tau_of_repeats = 0.84;
    EXPECT_EQ(held(), "yyyy");
}

TEST(Comparison, operation_times_are_means_over_ranks) {
    Timeline timeline;
    timeline.tracks = {{"rank 0", "compute"}, {"rank 0", "dp"}, {"rank 1", "compute"}, {"rank 1", "dp"}};
    timeline.names = {"never", "work", "message"};
    timeline.spans = {
        {0, 1, 0, 4'000'000'000'000}, {2, 1, 0, 2'000'000'000'000}, {1, 2, 4'000'000'000'000, 5'000'000'000'000}};
    const std::vector<OperationPair> operations = operation_times(timeline);
    ASSERT_EQ(operations.size(), 2U);
    EXPECT_EQ(operations[0].name, "work");
    EXPECT_NEAR(operations[0].measured_s, 3, 1e-12);  // (4 + 2) / 2
    EXPECT_NEAR(operations[1].measured_s, 0.5, 1e-12);
    const std::vector<OperationPair> pairs = pair_operations(operations, {{"work", 6, 0}, {"other", 1, 0}});
    ASSERT_EQ(pairs.size(), 3U);
    EXPECT_NEAR(pairs[0].predicted_s, 6, 1e-12);
    EXPECT_EQ(pairs[2].name, "other");
    EXPECT_NEAR(pairs[2].predicted_s, 1, 1e-12);
    EXPECT_EQ(pairs[2].measured_s, 0);
}

}  // namespace
}  // namespace auspex
