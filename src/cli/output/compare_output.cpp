/// @file Tables and JSON of a comparison.
#include "cli/output/compare_output.hpp"

#include <algorithm>
#include <cmath>

#include "base/json_writer.hpp"
#include "report/comparison/comparison_text.hpp"
#include "report/parts/text.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::cli {
namespace {

void write_operations(JsonWriter& json, const std::vector<evaluate::OperationPair>& operations) {
    json.key("operations").begin_array();
    for (const evaluate::OperationPair& operation : operations) {
        json.begin_object().member("name", operation.name).member("measured_s", operation.measured_s);
        json.member("predicted_s", operation.predicted_s).end_object();
    }
    json.end_array();
}

void write_runs(JsonWriter& json, const std::vector<evaluate::ComparedRun>& runs) {
    json.key("runs").begin_array();
    for (const evaluate::ComparedRun& run : runs) {
        json.begin_object().member("step_s", run.step_s).member("speed", run.speed).member("counts", run.is_valid);
        json.end_object();
    }
    json.end_array();
}

void write_case(JsonWriter& json, const evaluate::ComparedCase& one) {
    json.begin_object().member("plan", one.plan).member("workload", one.workload).member("ranks", one.ranks);
    json.member("nodes", one.nodes).member("measured_step_s", one.measured_step_s);
    json.member_or_null("noise", one.noise);
    json.member("predicted_step_s", one.predicted_step_s).member("error", one.error);
    json.member("error_all_runs", one.error_all_runs);
    json.key("interval_s").begin_array().value(one.interval_s.low).value(one.interval_s.high).end_array();
    json.member("interval_holds", one.interval_holds()).member("core_speed", one.core_speed);
    json.member("disturbed", one.disturbed).member("slowdown", one.slowdown);
    json.key("others").begin_array();
    for (const int count : one.background_processes) {
        json.value(count);
    }
    json.end_array();
    json.member("measured_memory_bytes", whole(one.measured_memory_bytes));
    json.member("predicted_memory_bytes", whole(one.predicted_memory_bytes));
    write_runs(json, one.runs);
    json.member("operations_are_typical", one.operations_are_typical);
    write_operations(json, one.operations);
    json.end_object();
}

void write_failed(JsonWriter& json, const std::vector<evaluate::FailedCase>& failed) {
    json.key("failed").begin_array();
    for (const evaluate::FailedCase& one : failed) {
        json.begin_object().member("plan", one.plan).member("workload", one.workload).member("error", one.error);
        json.end_object();
    }
    json.end_array();
}

void write_errors(JsonWriter& json, const evaluate::Comparison& comparison) {
    json.member("median_abs_error", comparison.errors.median_abs_error)
        .member("p90_abs_error", comparison.errors.p90_abs_error);
    json.member("max_abs_error", comparison.errors.max_abs_error).member("mean_error", comparison.errors.mean_error);
    json.member("median_abs_error_all_runs", comparison.errors_all_runs.median_abs_error);
    json.member("p90_abs_error_all_runs", comparison.errors_all_runs.p90_abs_error);
    json.member_or_null("noise_floor", comparison.noise_floor);
}

void write_rankings(JsonWriter& json, const evaluate::Comparison& comparison) {
    json.member_or_null("kendall_tau", comparison.kendall_tau).member("tau_pairs", comparison.tau_pairs);
    json.member_or_null("kendall_tau_of_repeats", comparison.kendall_tau_of_repeats);
    json.member("tau_pairs_of_repeats", comparison.tau_pairs_of_repeats);
    json.member_or_null("regret_of_predicted_best", comparison.regret_of_predicted_best);
    json.member("spread", comparison.spread).key("spreads").begin_object();
    for (const auto& [workload, spread] : comparison.spreads) {
        json.member(workload, spread);
    }
    json.end_object();
}

void write_coverage(JsonWriter& json, const evaluate::Comparison& comparison) {
    json.key("coverage").begin_array();
    for (const evaluate::IntervalCoverage& coverage : comparison.coverage) {
        json.begin_object().member("ranks", coverage.ranks).member("holds", coverage.holds);
        json.member("of", coverage.of).end_object();
    }
    json.end_array();
}

void write_mechanisms(JsonWriter& json, const evaluate::Comparison& comparison) {
    if (comparison.without.empty()) {
        return;
    }
    json.key("without").begin_array();
    for (const evaluate::WithoutMechanism& one : comparison.without) {
        json.begin_object().member("mechanism", one.name).member("measured_by", one.probe);
        json.member("median_abs_error", one.errors.median_abs_error).member("p90_abs_error", one.errors.p90_abs_error);
        json.member("mean_error", one.errors.mean_error).end_object();
    }
    json.end_array();
}

std::string operations_text(const evaluate::Comparison& comparison) {
    constexpr double kMinShare = 0.005;
    double all = 0;
    for (const evaluate::OperationPair& operation : comparison.operations) {
        all += operation.measured_s;
    }
    std::vector<report::TextRow> rows{{"operation", "measured", "predicted", "error"}};
    for (const evaluate::OperationPair& operation : comparison.operations) {
        if (std::max(operation.measured_s, operation.predicted_s) >= kMinShare * all) {
            rows.push_back(
                {operation.name, duration(operation.measured_s), duration(operation.predicted_s),
                 operation.measured_s > 0 ? signed_percent(operation.predicted_s / operation.measured_s - 1) : "-"});
        }
    }
    const std::string note = report::operations_note(comparison), errors = report::largest_errors_text(comparison);
    return "\ntime by operation, mean over ranks, summed over layouts (those of 0.5 % and more)\n\n" +
           report::text_table(rows, {0}) + "\n" + report::kWhereWaitsShow + "\n" +
           (errors.empty() ? "" : "\n" + errors + "\n") + (note.empty() ? "" : "note: " + note + "\n");
}

/// Empty where it was not asked for.
std::string mechanisms_text(const evaluate::Comparison& comparison) {
    const std::vector<report::TextRow> rows = report::mechanism_rows(comparison);
    return rows.empty() ? ""
                        : "\nthe same runs, predicted without each mechanism alone\n\n" +
                              report::text_table(rows, {0, rows.front().size() - 1});
}

std::string memory_text(const evaluate::Comparison& comparison) {
    std::vector<report::TextRow> rows{{"layout", "measured bytes", "predicted bytes"}};
    for (const evaluate::ComparedCase& one : comparison.cases) {
        if (whole(one.measured_memory_bytes) != whole(one.predicted_memory_bytes)) {
            rows.push_back({one.plan + " on " + one.workload, thousands(one.measured_memory_bytes),
                            thousands(one.predicted_memory_bytes)});
        }
    }
    const auto equal = static_cast<double>(comparison.cases.size() + 1 - rows.size());
    const std::string text = "\npeak memory of the fullest rank: equal to the byte in " + thousands(equal) + " of " +
                             counted(static_cast<double>(comparison.cases.size()), "layout") + "\n";
    return rows.size() == 1 ? text : text + "\n" + report::text_table(rows, {0});
}

/// What to do where a goal is missed or something else ran; empty: nothing.
std::string next_step_text(const evaluate::Comparison& comparison) {
    if (comparison.disturbed) {
        return "Next: run it again while nothing else uses the cores; docs/calibration.md, Disturbed machines, says "
               "what "
               "counts as that";
    }
    const std::vector<evaluate::Verdict> verdicts = verdicts_of(comparison);
    const bool fails = std::any_of(verdicts.begin(), verdicts.end(),
                                   [](const evaluate::Verdict& verdict) { return !verdict.holds.value_or(true); });
    return fails ? "Next: look for the operations above among the poor fits of auspex calibrate, and calibrate again "
                   "where they are poor (docs/calibration.md, Reading the verdicts)"
                 : "";
}

}  // namespace

std::string comparison_text(const evaluate::Comparison& comparison) {
    const std::string failed = report::failed_text(comparison);
    std::string text = failed.empty() ? "" : "FAILED: " + failed + "\n";
    text += comparison.disturbed ? "DISTURBED: what is measured may be too long\n" : "";
    for (const std::string& warning : comparison.warnings) {
        text += "warning: " + warning + "\n";
    }
    text += (text.empty() ? "" : "\n") + report::text_table(report::comparison_rows(comparison), {0, 1}) +
            operations_text(comparison) + mechanisms_text(comparison) + memory_text(comparison);
    text += "\n";
    for (const std::string& line : report::summary_lines(comparison)) {
        text += line + "\n";
    }
    text += "\n";
    for (const evaluate::Verdict& verdict : verdicts_of(comparison)) {
        text += (!verdict.holds ? "not judged:  " : *verdict.holds ? "holds:  " : "FAILS:  ") + verdict.text + "\n";
    }
    const std::string next = next_step_text(comparison);
    return text + (next.empty() ? "" : "\n" + next + "\n");
}

void write_comparison_json(std::ostream& out, const evaluate::Comparison& comparison) {
    JsonWriter json(out);
    json.begin_object().member("version", AUSPEX_VERSION).key("cases").begin_array();
    for (const evaluate::ComparedCase& one : comparison.cases) {
        write_case(json, one);
    }
    json.end_array();
    write_failed(json, comparison.failed);
    write_errors(json, comparison);
    write_rankings(json, comparison);
    write_coverage(json, comparison);
    json.member("median_half_width", comparison.median_half_width);
    json.member("disturbed", comparison.disturbed);
    write_operations(json, comparison.operations);
    write_mechanisms(json, comparison);
    json.key("verdicts").begin_array();
    for (const evaluate::Verdict& verdict : verdicts_of(comparison)) {
        json.begin_object().member("text", verdict.text).member_or_null("holds", verdict.holds).end_object();
    }
    json.end_array().key("warnings").begin_array();
    for (const std::string& warning : comparison.warnings) {
        json.value(warning);
    }
    json.end_array().end_object();
}

}  // namespace auspex::cli
