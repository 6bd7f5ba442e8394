/// @file Of many experiments with known truth, about 95 % have it in their intervals.
#include "base/statistics/bootstrap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "base/statistics/quantiles.hpp"
#include "compare/fit/cost_models/fitted.hpp"
#include "compare/fit/cost_models/non_negative_fit.hpp"
#include "compare/fit/cost_models/piecewise_linear_fit.hpp"
#include "models/cpu/cpu_model.hpp"

namespace auspex::fit {
namespace {

constexpr int kTrials = 200;

/// The share of seeded trials whose interval holds `truth`.
double coverage(double truth, const std::function<Interval(Rng&)>& trial) {
    int held = 0;
    for (int i = 0; i < kTrials; ++i) {
        Rng random(1000 + static_cast<std::uint64_t>(i));
        const Interval interval = trial(random);
        held += interval.holds(truth) ? 1 : 0;
    }
    return held / double{kTrials};
}

void expect_95_percent(double covered, const std::string& what) {
    EXPECT_GE(covered, 0.90) << what;
    EXPECT_LE(covered, 0.99) << what;
}

std::vector<double> noisy(std::size_t count, Rng& random) {
    std::vector<double> values(count);
    std::generate(values.begin(), values.end(), [&random] { return 5 * (1 + 0.04 * random.normal()); });
    return values;
}

TEST(Interval, of_a_median_holds_the_truth) {
    for (const std::size_t count : {2U, 3U, 4U, 5U, 8U, 12U, 30U}) {
        expect_95_percent(coverage(5, [count](Rng& random) { return interval_of_median(noisy(count, random)); }),
                          std::to_string(count) + " values");
    }
}

TEST(Interval, of_a_median_shrinks_with_the_root_of_their_number) {
    Rng random(3);
    const Interval few = interval_of_median(noisy(25, random)), many = interval_of_median(noisy(400, random));
    EXPECT_NEAR((few.high - few.low) / (many.high - many.low), 4, 1.5);
}

TEST(Interval, of_a_single_value_is_that_of_a_measured_constant) {
    const double value = 2;
    const Interval interval = interval_of_median(std::span(&value, 1));
    EXPECT_NEAR(interval.high - value, 1.96 * 0.03 * value, 1e-4);
}

/// Half of the interval over 1.96 is a standard deviation, as files give it.
TEST(Interval, of_a_range_holds_the_truth) {
    for (const std::size_t count : {2U, 3U, 5U, 10U, 20U}) {
        expect_95_percent(coverage(5,
                                   [count](Rng& random) -> Interval {
                                       const std::vector<double> values = noisy(count, random);
                                       const auto [low, high] = std::ranges::minmax(values);
                                       const double capacity =
                                           1.96 * sigma_of_median(high - low, static_cast<int>(count));
                                       return {median(values) - capacity, median(values) + capacity};
                                   }),
                          "range of " + std::to_string(count));
    }
}

/// Turns of n ranks on X bytes each: seconds = 100 us + refill X miss_ratio(reach, n X), 2 % of noise.
PiecewiseLinearFit fit_of_turns(Rng& random) {
    std::vector<PiecewiseLinearRow> rows;
    for (const int ranks : {2, 4}) {
        for (const double bytes : {0.5e6, 1e6, 2e6, 4e6}) {
            const double seconds = 100e-6 + 40e-12 * bytes * models::miss_ratio(3.3e6, ranks * bytes);
            rows.push_back({bytes, ranks * bytes, 100e-6, seconds * (1 + 0.02 * random.normal())});
        }
    }
    return fit_piecewise_linear(rows, capacities_up_to(20e6, 40), CachedCost::kKnown);
}

TEST(Interval, of_a_refill_and_its_reach_hold_the_truth) {
    expect_95_percent(coverage(40e-12, [](Rng& random) { return fit_of_turns(random).miss_byte_s.interval(); }),
                      "refill");
    expect_95_percent(coverage(3.3e6, [](Rng& random) { return fit_of_turns(random).capacity_bytes.interval(); }),
                      "reach");
}

/// Copies of sets of 4 to 128 MB: seconds = bytes (25 ps + 50 ps miss_ratio(27 MB, bytes)), 3 % of noise.
PiecewiseLinearFit fit_of_copies(Rng& random) {
    std::vector<PiecewiseLinearRow> rows;
    for (double bytes = 4e6; bytes < 130e6; bytes *= std::sqrt(2)) {
        const double seconds = bytes * (25e-12 + 50e-12 * models::miss_ratio(27e6, bytes));
        rows.push_back({bytes, bytes, 0, seconds * (1 + 0.03 * random.normal())});
    }
    return fit_piecewise_linear(rows, capacities_up_to(32e6, 64), CachedCost::kFitted);
}

TEST(Interval, of_a_cache_and_its_memory_hold_the_truth) {
    expect_95_percent(coverage(25e-12, [](Rng& random) { return fit_of_copies(random).cached_byte_s.interval(); }),
                      "near byte");
    expect_95_percent(coverage(50e-12, [](Rng& random) { return fit_of_copies(random).miss_byte_s.interval(); }),
                      "byte from memory");
    expect_95_percent(coverage(27e6, [](Rng& random) { return fit_of_copies(random).capacity_bytes.interval(); }),
                      "cache");
}

/// seconds = 2 us + 3 ns n + 50 ps n m on a grid, 4 % of noise.
TEST(Interval, of_a_laws_terms_hold_the_truth) {
    const double truth[] = {2e-6, 3e-9, 5e-11};
    for (std::size_t term = 0; term < 3; ++term) {
        expect_95_percent(
            coverage(truth[term],
                     [&](Rng& random) -> Interval {
                         std::vector<Observation> observations;
                         for (const double n : {8.0, 64.0, 512.0, 2048.0}) {
                             for (const double m : {16.0, 64.0, 256.0, 1024.0}) {
                                 const double y = truth[0] + truth[1] * n + truth[2] * n * m;
                                 observations.push_back({{1, n, n * m}, y * (1 + 0.04 * random.normal()), 1});
                             }
                         }
                         const auto fit = fit_non_negative(observations, 1).coefficients[term];
                         return fit.interval();
                     }),
            "term " + std::to_string(term));
    }
}

TEST(PiecewiseLinearFit, exact_rows_give_their_numbers_and_one_wild_row_changes_little) {
    std::vector<PiecewiseLinearRow> rows;
    for (double bytes = 1e6; bytes < 100e6; bytes *= 1.5) {
        rows.push_back({bytes, bytes, 2e-6, 2e-6 + bytes * (20e-12 + 60e-12 * models::miss_ratio(10e6, bytes))});
    }
    const PiecewiseLinearFit exact = fit_piecewise_linear(rows, capacities_up_to(32e6, 32), CachedCost::kFitted);
    EXPECT_NEAR(exact.cached_byte_s.value / 20e-12, 1, 1e-9);
    EXPECT_NEAR(exact.miss_byte_s.value / 60e-12, 1, 1e-9);
    EXPECT_NEAR(exact.capacity_bytes.value / 10e6, 1, 1e-9);
    EXPECT_NEAR(exact.predicted_s.back() / rows.back().seconds, 1, 1e-9);
    rows[2].seconds *= 1.5;
    const PiecewiseLinearFit wild = fit_piecewise_linear(rows, capacities_up_to(32e6, 32), CachedCost::kFitted);
    EXPECT_NEAR(wild.miss_byte_s.value / 60e-12, 1, 0.1);
    EXPECT_NEAR(wild.capacity_bytes.value / 10e6, 1, 0.1);
}

TEST(FittedNumbers, errors_of_sums_and_differences_add_as_squares) {
    const FittedNumber a{{5, 2, 8}, ConstantKind::kFitted, ""}, b{{3, -1, 7}, ConstantKind::kFitted, ""};
    const FittedNumber sum = sum_of(a, b, "sum"), difference = difference_of(a, b, "difference");
    EXPECT_DOUBLE_EQ(sum.value, 8);
    EXPECT_DOUBLE_EQ(sum.high, 8 + 5);  // sqrt(3^2 + 4^2) = 5
    EXPECT_DOUBLE_EQ(difference.value, 2);
    EXPECT_DOUBLE_EQ(difference.high, 2 + 5);
    EXPECT_DOUBLE_EQ(difference.low, 0);
    EXPECT_DOUBLE_EQ(inverse_of({{4, 2, 8}, ConstantKind::kFitted, ""}, ConstantKind::kDerived, "").high, 0.5);
}

/// uncertainty = (high - low) / 2 / normal_reach(0.95) / value; of a zero there is nothing that it could be a share of.
TEST(FittedNumbers, a_zero_has_no_relative_uncertainty) {
    EXPECT_NEAR(relative_uncertainty({estimate_of_95(10, 1), ConstantKind::kFitted, ""}), 0.1, 1e-12);
    EXPECT_EQ(relative_uncertainty({{0, 0, 0}, ConstantKind::kDerived, ""}), 0);
    EXPECT_EQ(relative_uncertainty({{0, 0, 3}, ConstantKind::kFitted, ""}), 0);
}

}  // namespace
}  // namespace auspex::fit
