/// @file Errors, noise and rankings of compared cases.
#include "compare/evaluate/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/statistics/statistics.hpp"
#include "compare/evaluate/compared_operations.hpp"

namespace auspex::evaluate {
namespace {

constexpr double kNoisyFactor = 5, kMinNoise = 0.02;
constexpr double kMaxMedianError = 0.05, kMaxP90Error = 0.12, kMaxMeanError = 0.02, kMinTau = 0.9, kMaxRegret = 0.03;
constexpr double kMinCoverage = 0.85, kMaxHalfWidth = 0.15;
constexpr double kQuartile = 0.25, kMaxSlope = 2;
constexpr double kMinChange = 0.02, kSlowest = 0.3, kFastest = 1.2;  // of speeds to predict with

using Groups = std::map<std::string, std::vector<std::size_t>>;

/// Cases of each workload, by index: those with so many runs.
Groups by_workload(const Comparison& comparison, std::size_t fewest_runs = 1) {
    Groups groups;
    for (std::size_t i = 0; i < comparison.cases.size(); ++i) {
        if (valid_steps_s(comparison.cases[i]).size() >= fewest_runs) {
            groups[comparison.cases[i].workload].push_back(i);
        }
    }
    return groups;
}

std::vector<double> picked(const std::vector<double>& values, const std::vector<std::size_t>& indices) {
    std::vector<double> out;
    for (const std::size_t i : indices) {
        out.push_back(values[i]);
    }
    return out;
}

/// Pairs of all workloads together.
RankAgreement agreement_within(const Groups& groups, const std::vector<double>& a, const std::vector<double>& b,
                               double least_ln_ratio) {
    RankAgreement all;
    double sum = 0;
    for (const auto& [workload, indices] : groups) {
        const RankAgreement one = kendall_tau(picked(a, indices), picked(b, indices), least_ln_ratio);
        all.pairs += one.pairs;
        sum += one.tau * one.pairs;
    }
    all.tau = all.pairs > 0 ? sum / all.pairs : 1;
    return all;
}

template <typename Value>
std::vector<double> values_of(const Comparison& comparison, Value value) {
    std::vector<double> out;
    for (const ComparedCase& one : comparison.cases) {
        out.push_back(value(one));
    }
    return out;
}

bool has_speeds(const ComparedCase& one) {
    return !one.runs.empty() &&
           std::all_of(one.runs.begin(), one.runs.end(), [](const ComparedRun& run) { return run.speed > 0; });
}

void measure(ComparedCase& one) {
    const std::vector<double> steps_s = valid_steps_s(one);
    AUSPEX_CHECK(!steps_s.empty(), "a compared case has been run");
    const auto [fastest, slowest] = std::minmax_element(steps_s.begin(), steps_s.end());
    one.measured_step_s = median(steps_s);
    one.noise = relative_noise(steps_s);
    one.slowdown = *slowest / *fastest;
    one.error = one.predicted_step_s / one.measured_step_s - 1;
    std::vector<double> all_s;
    for (const ComparedRun& run : one.runs) {
        all_s.push_back(run.step_s);
    }
    one.error_all_runs = one.predicted_step_s / median(all_s) - 1;
}

void judge_noise(Comparison& comparison) {
    std::vector<double> noises;
    for (const ComparedCase& one : comparison.cases) {
        if (one.noise) {
            noises.push_back(*one.noise);
        }
    }
    comparison.noise_floor = noises.empty() ? std::nullopt : std::optional(median(noises));
}

void judge_disturbance(Comparison& comparison) {
    int count = 0;
    const ComparedCase* slowest = nullptr;
    for (ComparedCase& one : comparison.cases) {
        const double most = std::max(kNoisyFactor * comparison.noise_floor.value_or(0), kMinNoise);
        const bool is_noisy = one.noise.value_or(0) > most;
        one.disturbed = one.disturbed || is_noisy;
        if (one.disturbed) {
            ++count;
            one.interval_s.high *= one.slowdown;
            slowest = slowest == nullptr || one.slowdown > slowest->slowdown ? &one : slowest;
        }
    }
    comparison.disturbed = count > 0;
    if (count > 0) {
        comparison.warnings.insert(
            comparison.warnings.begin(),
            "something else used the cores while " + std::to_string(count) + " of " +
                std::to_string(comparison.cases.size()) + " layouts ran; runs of " + slowest->plan + " on " +
                slowest->workload + " differ most, by a factor of " + fixed(slowest->slowdown, 3) +
                ". Upper ends of their intervals are multiplied by such factors, and are those of "
                "steps beside the processes that were seen, played on the cores they were on");
    }
}

std::string slow_cases_text(const Comparison& comparison, std::size_t count, double slope) {
    const bool any = std::any_of(comparison.cases.begin(), comparison.cases.end(),
                                 [](const ComparedCase& one) { return any_valid(one.runs); });
    return "; " + std::to_string(count) + " of " + std::to_string(comparison.cases.size()) +
           " layouts never ran without that: all of their runs count, and each is predicted with cores at (s / S)^" +
           fixed(slope, 3) + " of the calibration's speed, s the median speed of its runs, S = " +
           fixed(usual_speed(comparison.cases), 3) +
           (any ? " that of all runs that count; the other layouts are predicted at the calibration's speed"
                : ", for no run of any layout counts");
}

/// Runs that were left out, and intervals of cases of which all would have been.
void judge_speeds(Comparison& comparison) {
    const double slope = speed_slope(comparison.cases);
    std::size_t runs = 0, left_out = 0, slow_cases = 0;
    for (ComparedCase& one : comparison.cases) {
        runs += one.runs.size();
        left_out += static_cast<std::size_t>(
            std::count_if(one.runs.begin(), one.runs.end(), [](const ComparedRun& run) { return !run.is_valid; }));
        if (any_valid(one.runs) || !has_speeds(one)) {
            continue;
        }
        const std::vector<double> speeds = of_valid(one.runs, &ComparedRun::speed);
        one.interval_s.low *= std::pow(median(speeds) / quantile(speeds, 1 - kQuartile), slope);
        one.interval_s.high *= std::pow(median(speeds) / quantile(speeds, kQuartile), slope);
        ++slow_cases;
    }
    if (left_out > 0) {
        comparison.warnings.push_back(
            std::to_string(left_out) + " of " + std::to_string(runs) +
            " runs do not count: cores were slower than in the calibration (a neighbour of this virtual machine, or "
            "the clock), or something else ran" +
            (slow_cases > 0 ? slow_cases_text(comparison, slow_cases, slope) : ""));
    }
}

/// Of the first half of the repeats against the second. Cases with a single run have no second half, and no part in it.
RankAgreement agreement_of_repeats(const Comparison& comparison, double least_ln_ratio) {
    constexpr std::size_t kHalves = 2;
    std::vector<double> first(comparison.cases.size()), second(comparison.cases.size());
    const Groups groups = by_workload(comparison, kHalves);
    for (const auto& [workload, indices] : groups) {
        for (const std::size_t i : indices) {
            const std::vector<double> steps_s = valid_steps_s(comparison.cases[i]);
            const std::size_t half = steps_s.size() / kHalves;
            first[i] = median(std::span(steps_s).first(half));
            second[i] = median(std::span(steps_s).subspan(half));
        }
    }
    return agreement_within(groups, first, second, least_ln_ratio);
}

double slowest_over_fastest(const std::vector<double>& steps_s) {
    const auto [fastest, slowest] = std::minmax_element(steps_s.begin(), steps_s.end());
    return *slowest / *fastest;
}

void judge_errors(Comparison& comparison) {
    comparison.errors = summary_of(values_of(comparison, [](const ComparedCase& one) { return one.error; }));
    comparison.errors_all_runs =
        summary_of(values_of(comparison, [](const ComparedCase& one) { return one.error_all_runs; }));
}

void judge_rankings(Comparison& comparison) {
    const std::vector<double> measured =
        values_of(comparison, [](const ComparedCase& one) { return one.measured_step_s; });
    const std::vector<double> predicted =
        values_of(comparison, [](const ComparedCase& one) { return one.predicted_step_s; });
    const double least_ln_ratio = 2 * comparison.noise_floor.value_or(0);
    const Groups groups = by_workload(comparison);
    const RankAgreement agreement = agreement_within(groups, measured, predicted, least_ln_ratio);
    comparison.kendall_tau = agreement.pairs > 0 ? std::optional(agreement.tau) : std::nullopt;
    comparison.tau_pairs = agreement.pairs;
    const RankAgreement repeats = agreement_of_repeats(comparison, least_ln_ratio);
    comparison.kendall_tau_of_repeats = repeats.pairs > 0 ? std::optional(repeats.tau) : std::nullopt;
    comparison.tau_pairs_of_repeats = repeats.pairs;
    comparison.regret_of_predicted_best.reset();
    comparison.spread = slowest_over_fastest(measured);
    comparison.spreads.clear();
    for (const auto& [workload, indices] : groups) {
        const std::vector<double> own = picked(measured, indices);
        if (own.size() > 1) {
            comparison.regret_of_predicted_best = std::max(comparison.regret_of_predicted_best.value_or(0),
                                                           regret_of_predicted_best(own, picked(predicted, indices)));
        }
        comparison.spreads[workload] = slowest_over_fastest(own);
    }
}

void judge_intervals(Comparison& comparison) {
    std::map<int, IntervalCoverage> by_ranks;
    for (const ComparedCase& one : comparison.cases) {
        IntervalCoverage& coverage = by_ranks[one.ranks];
        coverage.ranks = one.ranks;
        coverage.holds += one.interval_holds() ? 1 : 0;
        ++coverage.of;
    }
    comparison.median_half_width = median(values_of(comparison, [](const ComparedCase& one) {
        return (one.interval_s.high - one.interval_s.low) / 2 / one.predicted_step_s;
    }));
    comparison.coverage.clear();
    for (const auto& [ranks, coverage] : by_ranks) {
        comparison.coverage.push_back(coverage);
    }
}

Verdict interval_verdict(const Comparison& comparison) {
    double held = 0, all = 0;
    for (const IntervalCoverage& coverage : comparison.coverage) {
        held += coverage.holds, all += coverage.of;
    }
    if (all == 0) {
        return {"intervals: no layout", std::nullopt};
    }
    return {percent(held / all) + " of the 90 % intervals hold, at least " + percent(kMinCoverage) +
                "; their median width +-" + percent(comparison.median_half_width) + ", at most " +
                percent(kMaxHalfWidth),
            held / all >= kMinCoverage && comparison.median_half_width <= kMaxHalfWidth};
}

}  // namespace

double speed_slope(const std::vector<ComparedCase>& cases) {
    double products = 0, squares = 0;
    int count = 0;
    for (const ComparedCase& one : cases) {
        if (!has_speeds(one)) {
            continue;
        }
        const double speed = median(of_valid(one.runs, &ComparedRun::speed)), step_s = median(valid_steps_s(one));
        for (const ComparedRun& run : one.runs) {
            const double faster = std::log(run.speed / speed);
            products += faster * std::log(step_s / run.step_s);
            squares += faster * faster;
            ++count;
        }
    }
    return squares <= count * kMinChange * kMinChange ? 1 : std::clamp(products / squares, 0.0, kMaxSlope);
}

double usual_speed(const std::vector<ComparedCase>& cases) {
    std::vector<double> speeds;
    for (const ComparedCase& one : cases) {
        if (has_speeds(one) && any_valid(one.runs)) {
            const std::vector<double> own = of_valid(one.runs, &ComparedRun::speed);
            speeds.insert(speeds.end(), own.begin(), own.end());
        }
    }
    return speeds.empty() ? 1 : median(speeds);
}

std::vector<double> speeds_to_predict(const std::vector<ComparedCase>& cases) {
    std::vector<double> speeds(cases.size(), 1);
    const double slope = speed_slope(cases), usual = usual_speed(cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (any_valid(cases[i].runs) || !has_speeds(cases[i])) {
            continue;
        }
        const double speed = std::pow(median(of_valid(cases[i].runs, &ComparedRun::speed)) / usual, slope);
        speeds[i] = std::abs(speed - 1) <= kMinChange ? 1 : std::clamp(speed, kSlowest, kFastest);
    }
    return speeds;
}

WithoutMechanism without_mechanism(const Comparison& comparison, std::string name, std::string probe,
                                   const std::vector<double>& steps_s) {
    AUSPEX_CHECK(steps_s.size() == comparison.cases.size(), "a step of each case");
    std::vector<double> errors;
    for (std::size_t i = 0; i < steps_s.size(); ++i) {
        errors.push_back(steps_s[i] / comparison.cases[i].measured_step_s - 1);
    }
    return {std::move(name), std::move(probe), summary_of(errors)};
}

void summarise(Comparison& comparison) {
    AUSPEX_CHECK(!comparison.cases.empty(), "a comparison has a case");
    std::for_each(comparison.cases.begin(), comparison.cases.end(), measure);
    judge_noise(comparison);
    judge_disturbance(comparison);
    judge_speeds(comparison);
    judge_errors(comparison);
    judge_rankings(comparison);
    judge_intervals(comparison);
    comparison.operations = summed_operations(comparison.cases);
}

std::vector<Verdict> verdicts_of(const Comparison& comparison) {
    const double noise = comparison.noise_floor.value_or(0);
    const double median_limit = std::max(kMaxMedianError, noise), p90_limit = std::max(kMaxP90Error, 2 * noise);
    const double tau_limit = std::min(kMinTau, comparison.kendall_tau_of_repeats.value_or(kMinTau));
    const double regret_limit = kMaxRegret + noise;
    const auto at_most = [](const std::string& what, double value, double limit) {
        return Verdict{what + " " + percent(value) + ", at most " + percent(limit), value <= limit};
    };
    const std::optional<double>&tau = comparison.kendall_tau, &regret = comparison.regret_of_predicted_best;
    return {at_most("median error", comparison.errors.median_abs_error, median_limit),
            at_most("90th percentile of errors", comparison.errors.p90_abs_error, p90_limit),
            {"mean signed error " + signed_percent(comparison.errors.mean_error) + ", within " + percent(kMaxMeanError),
             std::abs(comparison.errors.mean_error) <= kMaxMeanError},
            tau ? Verdict{"Kendall's tau " + fixed(*tau, 3) + ", at least " + fixed(tau_limit, 3), *tau >= tau_limit}
                : Verdict{"Kendall's tau: no pairs of layouts that differ by more than twice the noise", std::nullopt},
            regret ? at_most("regret of the predicted best", *regret, regret_limit)
                   : Verdict{"regret of the predicted best: no workload with two layouts", std::nullopt},
            interval_verdict(comparison)};
}

}  // namespace auspex::evaluate
