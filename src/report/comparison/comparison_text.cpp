/// @file A comparison in words and rows.
#include "report/comparison/comparison_text.hpp"

#include <algorithm>
#include <cmath>

#include "base/text/text_list.hpp"
#include "compare/evaluate/compared_operations.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr const char* kNotKnown = "not known";
constexpr const char* kNotJudged = "not judged";

}  // namespace

std::vector<const evaluate::ComparedCase*> worst_first(const evaluate::Comparison& comparison) {
    std::vector<const evaluate::ComparedCase*> cases;
    for (const evaluate::ComparedCase& one : comparison.cases) {
        cases.push_back(&one);
    }
    std::stable_sort(cases.begin(), cases.end(), [](const evaluate::ComparedCase* a, const evaluate::ComparedCase* b) {
        return std::abs(a->error) > std::abs(b->error);
    });
    return cases;
}

std::string noise_floor_text(const evaluate::Comparison& comparison) {
    return comparison.noise_floor ? percent(*comparison.noise_floor) : kNotKnown;
}

std::string tau_of_repeats_text(const evaluate::Comparison& comparison) {
    return comparison.kendall_tau_of_repeats ? fixed(*comparison.kendall_tau_of_repeats, 3) : kNotKnown;
}

std::string comparison_headline(const evaluate::Comparison& comparison) {
    std::string out = counted(static_cast<double>(comparison.cases.size()), "layout") +
                      " trained here: the step is predicted " + percent(comparison.errors.median_abs_error) +
                      " off in the median, " + percent(comparison.errors.p90_abs_error) + " or less for nine of ten";
    if (comparison.kendall_tau) {
        out += "; Kendall's tau of their order is " + fixed(*comparison.kendall_tau, 2);
    }
    return out;
}

std::vector<std::vector<std::string>> comparison_rows(const evaluate::Comparison& comparison) {
    std::vector<std::vector<std::string>> rows{
        {"layout", "workload", "ranks", "measured", "noise", "predicted", "error", "interval", ""}};
    for (const evaluate::ComparedCase* one : worst_first(comparison)) {
        std::vector<std::string> notes;
        if (one->disturbed) {
            notes.emplace_back("disturbed");
        }
        if (one->core_speed != 1) {
            notes.push_back("cores at " + percent(one->core_speed));
        }
        if (!one->operations_are_typical) {
            notes.emplace_back("odd trace");
        }
        rows.push_back({one->plan, one->workload, std::to_string(one->ranks), duration(one->measured_step_s),
                        one->noise ? percent(*one->noise) : "-", duration(one->predicted_step_s),
                        signed_percent(one->error), one->interval_holds() ? "holds" : "missed", joined(notes, ", ")});
    }
    return rows;
}

std::vector<std::vector<std::string>> mechanism_rows(const evaluate::Comparison& comparison) {
    if (comparison.without.empty()) {
        return {};
    }
    std::vector<std::vector<std::string>> rows{
        {"without", "median error", "90th percentile", "mean signed error", "measured by"}};
    const auto add = [&](const std::string& name, const evaluate::ErrorSummary& errors, const std::string& probe) {
        rows.push_back({name, percent(errors.median_abs_error), percent(errors.p90_abs_error),
                        signed_percent(errors.mean_error), probe});
    };
    add("(nothing: all of them)", comparison.errors, "");
    for (const evaluate::WithoutMechanism& one : comparison.without) {
        add(one.name, one.errors, one.probe);
    }
    return rows;
}

std::vector<std::string> summary_lines(const evaluate::Comparison& comparison) {
    double held = 0;
    std::vector<std::string> by_ranks, spreads;
    for (const evaluate::IntervalCoverage& coverage : comparison.coverage) {
        held += coverage.holds;
        by_ranks.push_back(std::to_string(coverage.holds) + " of " + std::to_string(coverage.of) + " at " +
                           counted(coverage.ranks, "rank"));
    }
    for (const auto& [workload, spread] : comparison.spreads) {
        spreads.push_back(workload + " " + significant(spread));
    }
    return {counted(static_cast<double>(comparison.cases.size()), "layout") + ": median error " +
                percent(comparison.errors.median_abs_error) + ", 90th percentile " +
                percent(comparison.errors.p90_abs_error) + ", largest " + percent(comparison.errors.max_abs_error) +
                ", mean signed error " + signed_percent(comparison.errors.mean_error),
            "against all runs measured, those that do not count too: median error " +
                percent(comparison.errors_all_runs.median_abs_error) + ", 90th percentile " +
                percent(comparison.errors_all_runs.p90_abs_error),
            thousands(held) + " of the intervals hold, their median width +-" + percent(comparison.median_half_width) +
                ": " + joined(by_ranks, ", "),
            "noise of a run " + noise_floor_text(comparison) + "; slowest over fastest layout " +
                significant(comparison.spread) + " (" + joined(spreads, ", ") + ")",
            "Kendall's tau " + (comparison.kendall_tau ? fixed(*comparison.kendall_tau, 3) : kNotJudged) + " over " +
                counted(comparison.tau_pairs, "pair") +
                " of a workload that differ by more than twice the noise; one half of the runs against the other " +
                tau_of_repeats_text(comparison) + " over " + counted(comparison.tau_pairs_of_repeats, "pair"),
            comparison.regret_of_predicted_best
                ? "the predicted best layout is " + percent(*comparison.regret_of_predicted_best) +
                      " slower than the best one (the worst workload)"
                : "what the predicted best layout loses is not judged: no workload has two layouts"};
}

std::string failed_text(const evaluate::Comparison& comparison) {
    std::vector<std::string> names;
    for (const evaluate::FailedCase& one : comparison.failed) {
        names.push_back(one.plan + " on " + one.workload);
    }
    return names.empty()
               ? ""
               : counted(static_cast<double>(names.size()), "layout") + " never ran to an end: " + joined(names, ", ");
}

std::string operations_note(const evaluate::Comparison& comparison) {
    const auto count = std::count_if(comparison.cases.begin(), comparison.cases.end(),
                                     [](const evaluate::ComparedCase& one) { return !one.operations_are_typical; });
    return count == 0 ? ""
                      : "of " + counted(static_cast<double>(count), "layout") +
                            " (odd trace) operations and timeline are of a step on slowed cores, or more than 10 % off "
                            "the median of its run: no run had a better one";
}

std::string largest_errors_text(const evaluate::Comparison& comparison) {
    constexpr std::size_t kCount = 3;
    std::vector<std::string> parts;
    for (const evaluate::OperationPair& operation : largest_errors(comparison.operations, kCount)) {
        const double difference_s = operation.predicted_s - operation.measured_s;
        parts.push_back(operation.name + " " + (difference_s >= 0 ? "+" : "") + duration(difference_s) +
                        (operation.measured_s > 0
                             ? " (" + signed_percent(operation.predicted_s / operation.measured_s - 1) + ")"
                             : ""));
    }
    return parts.empty() ? "" : "most of the error, predicted minus measured: " + joined(parts, ", ");
}

}  // namespace auspex::report
