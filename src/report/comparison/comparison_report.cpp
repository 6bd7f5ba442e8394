/// @file A page that shows measured beside predicted.
#include "report/comparison/comparison_report.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json.hpp"
#include "compare/evaluate/compared_operations.hpp"
#include "report/comparison/comparison_charts.hpp"
#include "report/comparison/comparison_text.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/timeline/timeline_figure.hpp"

namespace auspex::report {
namespace {

constexpr const char* kTitle = "Measured and predicted training steps";
constexpr const char* kScatter =
    "Every point is a layout that was trained on this machine; the dashed line is where prediction and measurement "
    "agree. The shape under the pointer says which one it is.";
constexpr const char* kOperations =
    "Time of each operation, the mean over ranks (waiting included), summed over layouts. Behind the bars: predicted "
    "over measured, minus 1. Measured is the last step of each run, where cores had their full speed during it and it "
    "took within 10 % of the median step of its run.";
constexpr const char* kTimelines =
    "The same step, measured above and predicted below, on one time axis: a row is a stream of a rank.";
constexpr const char* kTable =
    "Measured: median over runs, each the median of its steps. Noise: standard deviation of a run over the median, out "
    "of the range of up to five runs, of the quartiles of more; none of a single run. Interval: 90 %, of the "
    "prediction; made wider where something else ran.";
constexpr const char* kMechanisms =
    "The same runs, predicted once more without each mechanism of the machine alone: what the error would be if nobody "
    "had thought of it. An error that gets smaller says that two of them make up for each other here.";
constexpr const char* kNotJudged = "not judged";
constexpr std::size_t kMeasured = 3, kPredicted = 5;  // columns of comparison_rows

/// What time a layout spends on what kind of message: the pictures should have one of each.
std::string kind_of(const evaluate::ComparedCase& one) {
    std::set<std::string> streams;
    for (const schedule::Span& span : one.measured_timeline->spans) {
        streams.insert(one.measured_timeline->tracks[span.track].stream);
    }
    std::string kind;
    for (const std::string& stream : streams) {
        kind += stream + " ";
    }
    return kind;
}

/// The worst, the best, and the worst of each kind, as long as there is room.
std::vector<const evaluate::ComparedCase*> drawn_cases(const evaluate::Comparison& comparison) {
    constexpr std::size_t kMax = 10;
    std::vector<const evaluate::ComparedCase*> all = worst_first(comparison), drawn;
    std::erase_if(all, [](const evaluate::ComparedCase* one) {
        const auto has_spans = [](const std::optional<schedule::Timeline>& timeline) {
            return timeline && !timeline->spans.empty();
        };
        return !has_spans(one->measured_timeline) || !has_spans(one->predicted_timeline);
    });
    if (!all.empty()) {
        std::rotate(all.begin(), all.end() - 1, all.end());  // the best
        std::rotate(all.begin(), all.begin() + 1, all.begin() + std::min<std::ptrdiff_t>(2, std::ssize(all)));
    }
    std::set<std::string> kinds;
    for (const evaluate::ComparedCase* one : all) {
        const bool is_new = kinds.insert(kind_of(*one)).second;
        if (drawn.size() < kMax && (is_new || drawn.size() < 2)) {
            drawn.push_back(one);
        }
    }
    return drawn;
}

std::string source_of(const ComparisonReport& report) { return source_line(report.command, {}); }

std::vector<Card> cards_of(const evaluate::Comparison& comparison) {
    return {{percent(comparison.errors.median_abs_error), "median error of a step"},
            {percent(comparison.errors.p90_abs_error), "90th percentile of errors"},
            {comparison.kendall_tau ? fixed(*comparison.kendall_tau, 3) : kNotJudged,
             "Kendall's tau of the order; measuring twice: " + tau_of_repeats_text(comparison)},
            {comparison.regret_of_predicted_best ? percent(*comparison.regret_of_predicted_best) : kNotJudged,
             "lost by taking the predicted best"},
            {noise_floor_text(comparison), "noise of a run"},
            {thousands(static_cast<double>(comparison.cases.size())), "layouts"}};
}

std::string memory_section(const evaluate::Comparison& comparison) {
    std::vector<std::vector<std::string>> rows{{"layout", "workload", "measured bytes", "predicted bytes", "equal?"}};
    for (const evaluate::ComparedCase& one : comparison.cases) {
        rows.push_back(
            {one.plan, one.workload, thousands(one.measured_memory_bytes), thousands(one.predicted_memory_bytes),
             std::llround(one.measured_memory_bytes) == std::llround(one.predicted_memory_bytes) ? "equal"
                                                                                                 : "differs"});
    }
    return html_table(cells_of(rows, 2), "Peak of all labels on the fullest rank.");
}

std::string verdict_list(const evaluate::Comparison& comparison) {
    std::vector<std::string> items;
    for (const evaluate::Verdict& verdict : verdicts_of(comparison)) {
        items.push_back((!verdict.holds   ? "not judged: "
                         : *verdict.holds ? "holds: "
                                          : "does not hold: ") +
                        verdict.text);
    }
    return html_list(items);
}

std::string operations_section(const ComparisonReport& report) {
    const evaluate::Comparison& comparison = report.comparison;
    if (comparison.operations.empty()) {
        return "";
    }
    const std::string note = operations_note(comparison);
    return html_paragraph(largest_errors_text(comparison)) + (note.empty() ? "" : html_paragraph("Note: " + note)) +
           html_figure(picture_of([&](double width) { return operation_bars(comparison, width); }),
                       {"Time by operation", std::string(kOperations) + " " + kWhereWaitsShow, source_of(report)});
}

std::string timelines_section(const ComparisonReport& report) {
    constexpr std::size_t kMostBytes = 150'000;  // of one of them: ten are a page of 2 MB with all else
    const std::vector<const evaluate::ComparedCase*> drawn = drawn_cases(report.comparison);
    std::string out = drawn.empty() ? "" : html_paragraph(kTimelines);
    for (const evaluate::ComparedCase* one : drawn) {
        out += html_timeline({{"measured, " + duration(one->measured_step_s), &*one->measured_timeline},
                              {"predicted, " + duration(one->predicted_step_s), &*one->predicted_timeline}},
                             {one->plan + " on " + one->workload,
                              "Step: measured " + duration(one->measured_step_s) + ", predicted " +
                                  duration(one->predicted_step_s) + " (" + signed_percent(one->error) + ").",
                              source_of(report)},
                             kMostBytes);
    }
    return out;
}

std::string steps_table(const evaluate::Comparison& comparison) {
    TableRows rows = cells_of(comparison_rows(comparison), 2);
    for (Cell& head : rows.front()) {
        head.is_main = head.text == "predicted" || head.text == "error";
        head.text = head.text.empty() ? "remarks" : head.text;
    }
    const std::vector<const evaluate::ComparedCase*> cases = worst_first(comparison);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        rows[i + 1][kMeasured].value = cases[i]->measured_step_s;
        rows[i + 1][kPredicted].value = cases[i]->predicted_step_s;
    }
    return html_table(rows, "Layouts, the worst error first.",
                      {.row_name = "layouts", .filter_example = "small-moe, or ranks>=4"});
}

FirstScreen first_screen(const ComparisonReport& report) {
    const evaluate::Comparison& comparison = report.comparison;
    FirstScreen first;
    first.title = kTitle;
    first.kind = std::string(kTitle) + " · machine " + report.machine;
    first.headline = comparison_headline(comparison);
    first.cards = cards_of(comparison);
    first.figure =
        html_figure(picture_of([&](double width) { return step_scatter(comparison, width); }, kColumnPicture),
                    {"Predicted against measured step times", kScatter, source_of(report)});
    if (const std::string failed = failed_text(comparison); !failed.empty()) {
        first.remarks += html_paragraph("Failed: " + failed, "bad");
    }
    if (comparison.disturbed) {
        first.remarks +=
            html_paragraph("Disturbed: what is measured may be too long. The table marks the layouts.", "bad");
    }
    first.remarks += verdict_list(comparison);
    return first;
}

std::string render_html(const ComparisonReport& report) {
    const evaluate::Comparison& comparison = report.comparison;
    const std::string words =
        html_list(summary_lines(comparison)) + (comparison.warnings.empty() ? "" : html_list(comparison.warnings));
    const std::string mechanisms = comparison.without.empty() ? ""
                                                              : html_table(cells_of(mechanism_rows(comparison), 1),
                                                                           "Errors without single mechanisms.") +
                                                                    html_paragraph(kMechanisms, "note");
    return html_page(first_screen(report),
                     {{"words", "In words", words},
                      {"steps", "Step times", steps_table(comparison) + html_paragraph(kTable, "note")},
                      {"operations", "Operations", operations_section(report)},
                      {"mechanisms", "Mechanisms", mechanisms},
                      {"timelines", "Timelines", timelines_section(report)},
                      {"memory", "Memory", memory_section(comparison)},
                      {"provenance", "Provenance",
                       html_paragraph("Machine: " + report.machine + ". What is measured differs from run to run.") +
                           html_provenance(report.command, {}, {})}});
}

std::string cases_csv(const evaluate::Comparison& comparison) {
    std::string out =
        "plan,workload,ranks,nodes,measured_step_s,noise,predicted_step_s,error,interval_low_s,interval_high_s,"
        "core_speed,disturbed,slowdown,measured_memory_bytes,predicted_memory_bytes\n";
    for (const evaluate::ComparedCase& one : comparison.cases) {
        out += one.plan + "," + one.workload + "," + std::to_string(one.ranks) + "," + std::to_string(one.nodes);
        out += "," + json_number(one.measured_step_s) + "," + (one.noise ? json_number(*one.noise) : "");
        for (const double value :
             {one.predicted_step_s, one.error, one.interval_s.low, one.interval_s.high, one.core_speed}) {
            out += "," + json_number(value);
        }
        out += std::string(",") + (one.disturbed ? "true" : "false") + "," + json_number(one.slowdown) + "," +
               std::to_string(std::llround(one.measured_memory_bytes)) + "," +
               std::to_string(std::llround(one.predicted_memory_bytes)) + "\n";
    }
    return out;
}

}  // namespace

void write_comparison_report(const ComparisonReport& report, const std::string& directory) {
    const std::filesystem::path folder = make_report_folder(directory, "index.html and cases.csv");
    write_report_file(folder / "index.html", render_html(report));
    write_report_file(folder / "cases.csv", cases_csv(report.comparison));
}

}  // namespace auspex::report
