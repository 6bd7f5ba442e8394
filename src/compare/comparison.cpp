/// @file Errors, noise and rankings of compared cases.
#include "compare/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "base/error.hpp"
#include "compare/statistics.hpp"

namespace auspex {
namespace {

constexpr double kNoisyFactor = 5, kLeastNoise = 0.02;
constexpr double kMostMedianError = 0.05, kMostP90Error = 0.12, kLeastTau = 0.9, kMostRegret = 0.03;
constexpr double kPercentile = 0.9;
constexpr double kQuartile = 0.25, kMostSlope = 2;
constexpr double kLeastChange = 0.02, kSlowest = 0.3, kFastest = 1.2;  // of speeds to predict with

std::string number_text(double value) {
    std::array<char, 32> text{};
    static_cast<void>(std::snprintf(text.data(), text.size(), "%.3f", value));
    return text.data();
}

/// Cases of each workload, by index.
std::map<std::string, std::vector<std::size_t>> by_workload(const Comparison& comparison) {
    std::map<std::string, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < comparison.cases.size(); ++i) {
        groups[comparison.cases[i].workload].push_back(i);
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
RankAgreement agreement_within(const Comparison& comparison, const std::vector<double>& a, const std::vector<double>& b,
                               double least_ln_ratio) {
    RankAgreement all;
    double sum = 0;
    for (const auto& [workload, indices] : by_workload(comparison)) {
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

bool any_counts(const ComparedCase& one) {
    return std::any_of(one.runs.begin(), one.runs.end(), [](const ComparedRun& run) { return run.counts; });
}

/// Of the runs that count, of all where none does.
std::vector<double> of_counted(const ComparedCase& one, double ComparedRun::*value) {
    const bool all = !any_counts(one);
    std::vector<double> values;
    for (const ComparedRun& run : one.runs) {
        if (all || run.counts) {
            values.push_back(run.*value);
        }
    }
    return values;
}

bool has_speeds(const ComparedCase& one) {
    return !one.runs.empty() &&
           std::all_of(one.runs.begin(), one.runs.end(), [](const ComparedRun& run) { return run.speed > 0; });
}

void measure(ComparedCase& one) {
    const std::vector<double> steps_s = counted_steps_s(one);
    AUSPEX_CHECK(!steps_s.empty(), "a compared case has been run");
    const auto [fastest, slowest] = std::minmax_element(steps_s.begin(), steps_s.end());
    one.measured_step_s = median(steps_s);
    one.noise = relative_spread(steps_s);
    one.slowdown = *slowest / *fastest;
    one.error = one.predicted_step_s / one.measured_step_s - 1;
}

void judge_disturbance(Comparison& comparison) {
    int count = 0;
    const ComparedCase* slowest = nullptr;
    for (ComparedCase& one : comparison.cases) {
        const bool is_noisy = one.noise > std::max(kNoisyFactor * comparison.noise_floor, kLeastNoise);
        one.disturbed = one.disturbed || is_noisy;
        if (one.disturbed) {
            ++count;
            one.interval_high_s *= one.slowdown;
            slowest = slowest == nullptr || one.slowdown > slowest->slowdown ? &one : slowest;
        }
    }
    comparison.disturbed = count > 0;
    if (count > 0) {
        comparison.warnings.insert(comparison.warnings.begin(),
                                   "something else used the cores while " + std::to_string(count) + " of " +
                                       std::to_string(comparison.cases.size()) + " layouts ran; runs of " +
                                       slowest->plan + " on " + slowest->workload + " differ most, by a factor of " +
                                       number_text(slowest->slowdown) +
                                       ". Upper ends of their intervals are multiplied by such factors");
    }
}

/// Runs that were left out, and intervals of cases of which all would have been.
void judge_speeds(Comparison& comparison) {
    const double slope = speed_slope(comparison.cases);
    std::size_t runs = 0, left_out = 0, slow_cases = 0;
    for (ComparedCase& one : comparison.cases) {
        runs += one.runs.size();
        left_out += static_cast<std::size_t>(
            std::count_if(one.runs.begin(), one.runs.end(), [](const ComparedRun& run) { return !run.counts; }));
        if (any_counts(one) || !has_speeds(one)) {
            continue;
        }
        const std::vector<double> speeds = of_counted(one, &ComparedRun::speed);
        one.interval_low_s *= std::pow(median(speeds) / quantile(speeds, 1 - kQuartile), slope);
        one.interval_high_s *= std::pow(median(speeds) / quantile(speeds, kQuartile), slope);
        ++slow_cases;
    }
    if (left_out == 0) {
        return;
    }
    std::string text = std::to_string(left_out) + " of " + std::to_string(runs) +
                       " runs do not count: cores were slower than in the calibration (a neighbour of this virtual "
                       "machine, or the clock), or something else ran";
    if (slow_cases > 0) {
        text += "; " + std::to_string(slow_cases) + " of " + std::to_string(comparison.cases.size()) +
                " layouts never ran without that: all of their runs count, and they are predicted on slower cores "
                "(steps follow the probe's speed to the power of " +
                number_text(slope) + ")";
    }
    comparison.warnings.push_back(text);
}

/// Tau of the first half of the repeats against the second; 1 where a case has been run once only.
double tau_of_repeats(const Comparison& comparison, double least_ln_ratio) {
    std::vector<double> first, second;
    for (const ComparedCase& one : comparison.cases) {
        const std::vector<double> steps_s = counted_steps_s(one);
        if (steps_s.size() < 2) {
            return 1;
        }
        const std::size_t half = steps_s.size() / 2;
        first.push_back(median(std::span(steps_s).first(half)));
        second.push_back(median(std::span(steps_s).subspan(half)));
    }
    return agreement_within(comparison, first, second, least_ln_ratio).tau;
}

void sort_by_time(std::vector<OperationPair>& operations) {
    std::stable_sort(operations.begin(), operations.end(), [](const OperationPair& a, const OperationPair& b) {
        return a.measured_s != b.measured_s ? a.measured_s > b.measured_s : a.predicted_s > b.predicted_s;
    });
}

std::vector<OperationPair> summed_operations(const Comparison& comparison) {
    std::map<std::string, OperationPair> sums;
    for (const ComparedCase& one : comparison.cases) {
        for (const OperationPair& operation : one.operations) {
            OperationPair& sum = sums[operation.name];
            sum.name = operation.name;
            sum.measured_s += operation.measured_s;
            sum.predicted_s += operation.predicted_s;
        }
    }
    std::vector<OperationPair> operations;
    for (const auto& [name, sum] : sums) {
        operations.push_back(sum);
    }
    sort_by_time(operations);
    return operations;
}

/// Median speed of the runs that count; 1 where none does.
double usual_speed(const std::vector<ComparedCase>& cases) {
    std::vector<double> speeds;
    for (const ComparedCase& one : cases) {
        if (has_speeds(one) && any_counts(one)) {
            const std::vector<double> own = of_counted(one, &ComparedRun::speed);
            speeds.insert(speeds.end(), own.begin(), own.end());
        }
    }
    return speeds.empty() ? 1 : median(speeds);
}

}  // namespace

std::vector<double> counted_steps_s(const ComparedCase& one) { return of_counted(one, &ComparedRun::step_s); }

double speed_slope(const std::vector<ComparedCase>& cases) {
    double products = 0, squares = 0;
    int count = 0;
    for (const ComparedCase& one : cases) {
        if (!has_speeds(one)) {
            continue;
        }
        const double speed = median(of_counted(one, &ComparedRun::speed)), step_s = median(counted_steps_s(one));
        for (const ComparedRun& run : one.runs) {
            const double faster = std::log(run.speed / speed);
            products += faster * std::log(step_s / run.step_s);
            squares += faster * faster;
            ++count;
        }
    }
    return squares <= count * kLeastChange * kLeastChange ? 1 : std::clamp(products / squares, 0.0, kMostSlope);
}

std::vector<double> speeds_to_predict(const std::vector<ComparedCase>& cases) {
    std::vector<double> speeds(cases.size(), 1);
    const double slope = speed_slope(cases), usual = usual_speed(cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!has_speeds(cases[i])) {
            continue;
        }
        double speed = usual;
        if (!any_counts(cases[i])) {
            speed *= std::pow(median(of_counted(cases[i], &ComparedRun::speed)) / usual, slope);
        }
        speeds[i] = std::abs(speed - 1) <= kLeastChange ? 1 : std::clamp(speed, kSlowest, kFastest);
    }
    return speeds;
}

void summarise(Comparison& comparison) {
    AUSPEX_CHECK(!comparison.cases.empty(), "a comparison has a case");
    std::for_each(comparison.cases.begin(), comparison.cases.end(), measure);
    comparison.noise_floor = median(values_of(comparison, [](const ComparedCase& one) { return one.noise; }));
    judge_disturbance(comparison);
    judge_speeds(comparison);
    const std::vector<double> errors =
        values_of(comparison, [](const ComparedCase& one) { return std::abs(one.error); });
    comparison.median_abs_error = median(errors);
    comparison.p90_abs_error = quantile(errors, kPercentile);
    comparison.max_abs_error = *std::max_element(errors.begin(), errors.end());
    const std::vector<double> measured =
        values_of(comparison, [](const ComparedCase& one) { return one.measured_step_s; });
    const std::vector<double> predicted =
        values_of(comparison, [](const ComparedCase& one) { return one.predicted_step_s; });
    const double least_ln_ratio = 2 * comparison.noise_floor;
    const RankAgreement agreement = agreement_within(comparison, measured, predicted, least_ln_ratio);
    comparison.kendall_tau = agreement.tau;
    comparison.tau_pairs = agreement.pairs;
    comparison.kendall_tau_of_repeats = tau_of_repeats(comparison, least_ln_ratio);
    comparison.regret_of_predicted_best = 0;
    for (const auto& [workload, indices] : by_workload(comparison)) {
        comparison.regret_of_predicted_best =
            std::max(comparison.regret_of_predicted_best,
                     regret_of_predicted_best(picked(measured, indices), picked(predicted, indices)));
    }
    const auto [fastest, slowest] = std::minmax_element(measured.begin(), measured.end());
    comparison.spread = *slowest / *fastest;
    comparison.operations = summed_operations(comparison);
}

std::vector<Verdict> verdicts_of(const Comparison& comparison) {
    const double noise = comparison.noise_floor;
    const double median_limit = std::max(kMostMedianError, noise), p90_limit = std::max(kMostP90Error, 2 * noise);
    const double tau_limit = std::min(kLeastTau, comparison.kendall_tau_of_repeats);
    const double regret_limit = kMostRegret + noise;
    const auto at_most = [](const std::string& what, double value, double limit) {
        return Verdict{what + " " + percent_text(value) + ", at most " + percent_text(limit), value <= limit};
    };
    return {at_most("median error", comparison.median_abs_error, median_limit),
            at_most("90th percentile of errors", comparison.p90_abs_error, p90_limit),
            {"Kendall's tau " + number_text(comparison.kendall_tau) + ", at least " + number_text(tau_limit),
             comparison.kendall_tau >= tau_limit},
            at_most("regret of the predicted best", comparison.regret_of_predicted_best, regret_limit)};
}

std::vector<OperationPair> operation_times(const Timeline& timeline) {
    std::set<std::string> roles;
    for (const Track& track : timeline.tracks) {
        roles.insert(track.role);
    }
    std::vector<Picoseconds> sums(timeline.names.size());
    for (const Span& span : timeline.spans) {
        sums.at(span.name) += span.end - span.start;
    }
    std::vector<OperationPair> operations;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (sums[i] > 0) {
            operations.push_back({timeline.names[i], to_seconds(sums[i]) / static_cast<double>(roles.size()), 0});
        }
    }
    sort_by_time(operations);
    return operations;
}

std::vector<OperationPair> pair_operations(const std::vector<OperationPair>& measured,
                                           const std::vector<OperationPair>& predicted) {
    std::vector<OperationPair> pairs = measured;
    for (const OperationPair& operation : predicted) {
        const auto same = std::find_if(pairs.begin(), pairs.end(),
                                       [&](const OperationPair& pair) { return pair.name == operation.name; });
        if (same == pairs.end()) {
            pairs.push_back({operation.name, 0, operation.measured_s});
        } else {
            same->predicted_s = operation.measured_s;
        }
    }
    sort_by_time(pairs);
    return pairs;
}

}  // namespace auspex
