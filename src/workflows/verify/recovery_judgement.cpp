/// @file Steps counted, losses compared.
#include "workflows/verify/recovery_judgement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/parts/text.hpp"

namespace auspex::workflows {
namespace {

/// Of the mean loss of the first steps after a start from weights alone, before the new warm-up makes a difference.
constexpr double kAllowedFresh = 0.05;

std::string same(bool passed) {
    return passed ? "equal those of the run left alone, bit for bit" : "differ from those of the run left alone";
}

std::span<const double> tail(std::span<const double> losses, int from) {
    return losses.subspan(std::min(losses.size(), static_cast<std::size_t>(from)));
}

double mean(std::span<const double> losses) {
    return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

/// Neither passed nor judged, if the steps are those that are expected.
report::RecoveryCheck checked_steps(std::string what, const launch::TrainResult& run, StepRange expected) {
    return {std::move(what), run.error.empty() ? fault_of_steps(run, expected) : "failed: " + run.error, false};
}

}  // namespace

RecoveryPlan::RecoveryPlan(int wanted)
    : steps(std::clamp(wanted, report::kMinRecoverySteps, report::kMaxRecoverySteps)),
      every(std::max(2, steps / 8)),
      half(std::max(2 * every, steps / 2 / every * every)) {}

report::RecoveryCheck judge_killed(std::string what, const launch::TrainResult& run, std::span<const double> alone,
                                   int steps) {
    report::RecoveryCheck check = checked_steps(std::move(what), run, {0, steps});
    if (check.result.empty()) {
        const bool is_same = std::ranges::equal(run.losses(), alone);
        check.passed = is_same && !run.restarts.empty();
        check.result = (!run.restarts.empty() ? counted(static_cast<double>(run.restarts.size()), "restart")
                                              : std::string("not noticed")) +
                       "; losses " + same(is_same);
    }
    return check;
}

report::RecoveryCheck judge_moved(std::string what, const launch::TrainResult& run, std::span<const double> alone,
                                  StepRange rest) {
    report::RecoveryCheck check = checked_steps(std::move(what), run, rest);
    if (check.result.empty()) {
        const double difference = largest_difference(run.losses(), tail(alone, rest.first));
        check.passed = difference <= report::kAllowedForced;
        check.result = "losses differ by " + report::difference_text(difference) +
                       " from the run left alone (allowed: " + report::difference_text(report::kAllowedForced) + ")";
    }
    return check;
}

report::RecoveryCheck judge_begun(std::string what, const launch::TrainResult& run, std::span<const double> alone,
                                  int first, int steps) {
    report::RecoveryCheck check = checked_steps(std::move(what), run, {0, steps});
    if (check.result.empty()) {
        const double found = mean(run.losses());
        const auto there = tail(alone, first);
        const double expected = mean(there.first(std::min(there.size(), static_cast<std::size_t>(steps))));
        check.passed = std::abs(found / expected - 1) <= kAllowedFresh;
        check.result = "mean loss of the first " + counted(steps, "step") + " " + fixed(found, 4) +
                       ", of the run left alone at that point " + fixed(expected, 4) +
                       ", on other batches (allowed: " + percent(kAllowedFresh, 0) + " apart); at the very beginning " +
                       fixed(alone.front(), 4);
    }
    return check;
}

report::RecoveryCheck judge_damaged(std::string what, const launch::TrainResult& run, std::span<const double> alone,
                                    StepRange rest) {
    report::RecoveryCheck check = checked_steps(std::move(what), run, rest);
    if (check.result.empty()) {
        check.passed = std::ranges::equal(run.losses(), tail(alone, rest.first));
        check.result = "the one after step " + std::to_string(rest.first) + " was used; losses " + same(check.passed);
    }
    return check;
}

}  // namespace auspex::workflows
