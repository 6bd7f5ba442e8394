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
#include "report/parts/page_style.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/parts/timeline_chart.hpp"

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
    "The same step, measured above and predicted below, on one time axis: a row is a rank. Stretches shorter than a "
    "line of the picture go to the group that has most of it.";
constexpr const char* kTable =
    "Measured: median over runs, each the median of its steps. Noise: standard deviation of a run over the median, out "
    "of the range of up to five runs, of the quartiles of more; none of a single run. Interval: 90 %, of the "
    "prediction; made wider where something else ran.";
constexpr const char* kMechanisms =
    "The same runs, predicted once more without each mechanism of the machine alone: what the error would be if nobody "
    "had thought of it. An error that gets smaller says that two of them make up for each other here.";
constexpr const char* kNotJudged = "not judged";

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

std::string html_rows(const std::vector<std::vector<std::string>>& rows, std::size_t left, std::string_view caption) {
    std::vector<std::vector<Cell>> cells;
    for (const std::vector<std::string>& row : rows) {
        std::vector<Cell>& line = cells.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i) {
            line.push_back(i < left || i + 1 == row.size() ? Cell{row[i]} : number(row[i]));
        }
    }
    return html_table(cells, caption);
}

std::string cards(const evaluate::Comparison& comparison) {
    std::string out = "<div class=\"cards\">\n";
    const auto add = [&out](const std::string& value, const std::string& name) {
        out += "<div class=\"card\"><b>" + html_escape(value) + "</b><span>" + html_escape(name) + "</span></div>\n";
    };
    add(thousands(static_cast<double>(comparison.cases.size())), "layouts");
    add(percent(comparison.errors.median_abs_error), "median error");
    add(percent(comparison.errors.p90_abs_error), "90th percentile of errors");
    add(comparison.kendall_tau ? fixed(*comparison.kendall_tau, 3) : kNotJudged,
        "Kendall's tau; measuring twice: " + tau_of_repeats_text(comparison));
    add(comparison.regret_of_predicted_best ? percent(*comparison.regret_of_predicted_best) : kNotJudged,
        "lost by taking the predicted best");
    add(noise_floor_text(comparison), "noise of a run");
    return out + "</div>\n";
}

std::string memory_section(const evaluate::Comparison& comparison) {
    std::vector<std::vector<std::string>> rows{{"layout", "workload", "measured bytes", "predicted bytes", ""}};
    for (const evaluate::ComparedCase& one : comparison.cases) {
        rows.push_back(
            {one.plan, one.workload, thousands(one.measured_memory_bytes), thousands(one.predicted_memory_bytes),
             std::llround(one.measured_memory_bytes) == std::llround(one.predicted_memory_bytes) ? "equal"
                                                                                                 : "differs"});
    }
    return html_heading("memory", "Memory") + html_rows(rows, 2, "Peak of all labels on the fullest rank.");
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

std::string operations_section(const evaluate::Comparison& comparison) {
    const std::string note = operations_note(comparison);
    return html_heading("operations", "Operations") + html_paragraph(largest_errors_text(comparison)) +
           (note.empty() ? "" : html_paragraph("Note: " + note)) +
           html_figure(operation_bars(comparison), std::string(kOperations) + " " + kWhereWaitsShow);
}

std::string render_html(const ComparisonReport& report) {
    const evaluate::Comparison& comparison = report.comparison;
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
        html_escape(kTitle) + "</title>\n<style>" + kPageStyle + "</style>\n</head>\n<body><main>\n<h1>" +
        html_escape(kTitle) + "</h1>\n";
    if (const std::string failed = failed_text(comparison); !failed.empty()) {
        out += html_paragraph("Failed: " + failed, "bad");
    }
    if (comparison.disturbed) {
        out += html_paragraph("Disturbed: what is measured may be too long. The table marks the layouts.", "bad");
    }
    out += cards(comparison) + verdict_list(comparison) + html_list(summary_lines(comparison));
    if (!comparison.warnings.empty()) {
        out += html_list(comparison.warnings);
    }
    out += html_heading("steps", "Step times") + html_figure(step_scatter(comparison), kScatter) +
           html_rows(comparison_rows(comparison), 2, kTable);
    if (!comparison.operations.empty()) {
        out += operations_section(comparison);
    }
    if (!comparison.without.empty()) {
        out += html_heading("mechanisms", "Mechanisms") + html_rows(mechanism_rows(comparison), 1, kMechanisms);
    }
    const std::vector<const evaluate::ComparedCase*> drawn = drawn_cases(comparison);
    if (!drawn.empty()) {
        out += html_heading("timelines", "Timelines") + html_paragraph(kTimelines);
    }
    for (const evaluate::ComparedCase* one : drawn) {
        out += html_figure(
            timeline_chart(one->plan + " on " + one->workload, *one->measured_timeline, *one->predicted_timeline),
            "Step: measured " + duration(one->measured_step_s) + ", predicted " + duration(one->predicted_step_s) +
                " (" + signed_percent(one->error) + ").");
    }
    return out + memory_section(comparison) + html_heading("provenance", "Where this page comes from") +
           html_paragraph("Machine: " + report.machine + ". This command makes the page again; times differ:") +
           "<pre>" + html_escape(report.command) + "</pre>\n</main></body>\n</html>\n";
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
