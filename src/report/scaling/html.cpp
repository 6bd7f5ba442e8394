/// @file The HTML page, section by section.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/parts/page.hpp"
#include "report/parts/page_style.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/charts.hpp"
#include "report/scaling/scaling_report.hpp"
#include "report/scaling/story.hpp"

namespace auspex::report {

namespace {

using Rows = std::vector<std::vector<Cell>>;

std::string gigabytes(double bytes) { return significant(bytes / 1e9); }

std::string head_section(const ScalingReport& report) {
    const predict::Prediction& first = report.points.front().prediction;
    const ScalePoint& end = report.points.back();
    const predict::Prediction& last = end.prediction;
    const std::string at_last = " on " + thousands(last.tiles) + " tiles";
    std::string out = "<h1>" + html_escape(report.title) + "</h1>\n";
    out += html_paragraph("model " + report.workload + " · machine " + report.machine + " · stack " + report.stack +
                              " · plan " + report.plan + " · " + report.mode + " scaling",
                          "soft");
    out +=
        "<nav><a href=\"#points\">Points</a><a href=\"#efficiency\">Efficiency and throughput</a>"
        "<a href=\"#losses\">Where the time goes</a><a href=\"#memory\">Memory</a><a href=\"#constants\">Constants</a>"
        "<a href=\"#provenance\">Provenance</a><a href=\"#glossary\">Glossary</a></nav>\n";
    std::string summary;
    for (const std::string& sentence : summary_sentences(report)) {
        summary += (summary.empty() ? "" : " ") + sentence;
    }
    out += html_paragraph(summary, "summary");
    double fullest = 0;
    bool fits = true;
    for (const ScalePoint& point : report.points) {
        fullest = std::max(fullest, point.prediction.memory.peak_bytes);
        fits = fits && point.prediction.memory.fits;
    }
    return out +
           html_cards(
               {{percent(end.efficiency), "efficiency" + at_last + " (" + thousands(first.tiles) + " tiles = 100 %)"},
                {short_count(last.tokens_per_s) + " tokens/s", "throughput" + at_last},
                {duration(last.step_time_s),
                 "time of one step" + at_last +
                     (report.points.size() > 1 ? "; " + duration(first.step_time_s) + " at the start" : "")},
                {gigabytes(fullest) + " GB",
                 std::string(fits ? "largest memory need: fits into " : "largest memory need: does NOT fit into ") +
                     gigabytes(first.memory.capacity_bytes) + " GB a tile",
                 !fits}});
}

std::string points_section(const ScalingReport& report) {
    Rows rows{{number("tiles"), number("nodes"), number("dp"), number("data_parallel"),
               number("global batch", "sequences"), number("global batch", "tokens"),
               number("step time", "seconds (interval)"), number("tokens/s"), number("tokens/s", "per tile"),
               number("TFLOP/s", "per tile"), number("MFU"), number("efficiency"), number("memory", "GB, fits?")}};
    for (const ScalePoint& point : report.points) {
        const predict::Prediction& p = point.prediction;
        rows.push_back({number(thousands(p.tiles)), number(thousands(p.nodes)), number(thousands(p.dp)),
                        number(thousands(p.data_parallel)), number(thousands(p.global_batch)),
                        number(thousands(p.tokens_per_step)),
                        number(significant(p.step_time_s), interval_text(p.step_time_interval_s)),
                        number(thousands(p.tokens_per_s)), number(significant(p.tokens_per_s_per_tile, 4)),
                        number(significant(p.tflops_per_tile)), number(percent(p.mfu)),
                        number(percent(point.efficiency)),
                        number(gigabytes(p.memory.peak_bytes), p.memory.fits ? "fits" : "does NOT fit")});
    }
    const predict::Prediction& first = report.points.front().prediction;
    std::string out = html_heading("points", "The points");
    out += html_table(rows,
                      "One row is one simulated step at that number of tiles. tokens/s is how fast training text is "
                      "consumed; MFU is the "
                      "model's arithmetic as a share of the peak, here " +
                          significant(first.peak_flop_per_s / 1e12) +
                          " TFLOP/s a tile. The interval holds the true step time in about "
                          "9 of 10 cases as far as the constants are uncertain; it does not cover mechanisms that "
                          "are left out.");
    Rows costs{{number("tiles"), number("tokens"), number("run time", "hours"), number("node-hours")}};
    for (const ScalePoint& point : report.points) {
        const predict::Prediction& p = point.prediction;
        if (p.run_tokens > 0) {
            costs.push_back({number(thousands(p.tiles)), number(short_count(p.run_tokens)),
                             number(significant(p.run_time_s / 3600)), number(thousands(p.node_hours))});
        }
    }
    return costs.size() > 1
               ? out + html_table(costs, "What the whole run costs, without checkpoints, failures and queueing.")
               : out;
}

std::string scale_sections(const ScalingReport& report) {
    if (report.points.size() < 2) {
        return html_heading("efficiency", "Efficiency and throughput") +
               html_paragraph(
                   "This report has one point: there is nothing to compare it with. Give two or more numbers of tiles "
                   "to see curves.");
    }
    const bool strong = report.mode == "strong";
    std::string out = html_heading("efficiency", "Efficiency: how much is lost by using more tiles");
    out += html_figure(
        efficiency_chart(report),
        std::string("How to read it: at 100 % (dashed) ") +
            (strong ? "twice the tiles take half the time" : "every tile works as fast as at the first point") +
            "; the distance from it is what scaling costs. The thick line is "
            "the prediction. The thin lines are the same prediction with one "
            "cause switched off: the wait on full links before the network "
            "detours (detour delay), other jobs' traffic (background load), both of "
            "these, or slow tiles (stragglers). The shaded band is the spread "
            "between these lines, not an error bar: the uncertainty of the "
            "step time is nearly the same at every point and hardly changes "
            "this picture. The vertical axis is cut to show the differences. "
            "Every line is measured against its own first point, which "
            "improves too when a cause is switched off: so a thin line, such "
            "as the one without stragglers, may lie below the prediction.");
    out += html_heading("throughput", "Throughput: how fast the model reads its training text");
    out += html_figure(throughput_chart(report),
                       "How to read it: both axes are logarithmic, so ideal scaling is a straight line (dashed). The "
                       "bars and the band are the "
                       "interval of the step time: the whole curve may move up or down within it, mostly together.");
    return out;
}

std::string losses_section(const ScalingReport& report) {
    const predict::Prediction& first = report.points.front().prediction;
    const predict::Prediction& last = report.points.back().prediction;
    std::string out = html_heading("losses", "Where the time of a step goes");
    out += html_figure(
        loss_chart(report),
        "How to read it: a bar is one step, as a mean over all tiles. Its parts add up to the step exactly; the "
        "percentages are shares of that step. Names stand beside the last bar.");
    Rows legend{{{"part"}, {"what it is"}}};
    std::string absent;
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        const auto which = static_cast<schedule::Loss>(loss);
        const bool present = std::any_of(report.points.begin(), report.points.end(), [loss](const ScalePoint& point) {
            return point.prediction.losses[loss] != 0;
        });
        if (present) {
            legend.push_back({{readable(which), "part", {}, static_cast<int>(loss)}, {meaning_of(which)}});
        } else {
            absent += (absent.empty() ? "" : ", ") + readable(which);
        }
    }
    out +=
        html_table(legend, absent.empty() ? "Legend." : "Legend. Zero at every point, so not drawn: " + absent + ".");
    if (report.points.size() < 2) {
        return out;
    }
    Rows rows{{{"part"},
               number(thousands(first.tiles) + " tiles", "seconds"),
               number(thousands(last.tiles) + " tiles", "seconds"),
               number("change", "seconds"),
               number(thousands(first.tiles) + " tiles", "% of the step"),
               number(thousands(last.tiles) + " tiles", "% of the step"),
               number("change", "percentage points")}};
    for (const LossGrowth& row : loss_growth(report)) {
        rows.push_back({{readable(row.loss), "part", {}, static_cast<int>(row.loss)},
                        number(significant(row.first_s)),
                        number(significant(row.last_s)),
                        number(change_text(row.last_s - row.first_s)),
                        number(percent(row.first_share)),
                        number(percent(row.last_share)),
                        number(signed_significant((row.last_share - row.first_share) * 100, 2))});
    }
    rows.push_back({{"whole step", "whole"},
                    number(significant(first.step_time_s)),
                    number(significant(last.step_time_s)),
                    number(signed_significant(last.step_time_s - first.step_time_s)),
                    number("100 %"),
                    number("100 %"),
                    number("0")});
    return out +
           html_table(rows, report.mode == "strong"
                                ? "Causes: how each part's share of the step changes between the first and the last "
                                  "point, largest first."
                                : "Causes: what each part adds between the first and the last point, largest first.");
}

std::string memory_section(const ScalingReport& report) {
    const predict::Prediction& first = report.points.front().prediction;
    std::string out = html_heading("memory", "Memory");
    if (!first.memory.by_stage.empty()) {
        out += html_figure(memory_chart(first.memory),
                           "How to read it: a bar is what one tile of that pipeline stage holds, on " +
                               thousands(first.tiles) +
                               " tiles, at the moment in the step when it holds most (GB above "
                               "the bar). Red dashes: what a tile has.");
    }
    Rows rows{{number("tiles"), number("heaviest stage"), number("GB"), {"largest parts"}, {"verdict"}}};
    for (const ScalePoint& point : report.points) {
        const predict::MemoryReport& memory = point.prediction.memory;
        auto parts = memory.by_label;
        std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
        std::string largest;
        for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), 3); ++i) {
            largest += (i == 0 ? "" : ", ") + parts[i].first + " " + gigabytes(parts[i].second);
        }
        rows.push_back({number(thousands(point.prediction.tiles)),
                        number(std::to_string(memory.heaviest_stage)),
                        number(gigabytes(memory.peak_bytes)),
                        {largest},
                        {memory.verdict}});
    }
    return out + html_table(rows, "The heaviest stage at each point.");
}

std::string constants_section(const ScalingReport& report) {
    const predict::Prediction& last = report.points.back().prediction;
    std::string out = html_heading("constants", "What the prediction leans on");
    const std::vector<std::string> notes = notes_of(report);
    if (!notes.empty()) {
        out += html_paragraph("What to know before using the numbers:") + html_list(notes);
    }
    if (!last.top_constants.empty()) {
        Rows rows{{{"constant"},
                   number("value"),
                   {"kind"},
                   number("elasticity"),
                   number("uncertainty"),
                   number("moves the step by"),
                   {"source", "source"}}};
        for (const predict::ConstantSensitivity& sensitivity : last.top_constants) {
            const Constant& c = sensitivity.constant;
            rows.push_back(
                {{c.path, "path"},
                 number(format_quantity(c.value, c.dimension)),
                 {to_string(c.kind)},
                 number(signed_significant(sensitivity.elasticity, 2)),
                 number("±" + percent(c.relative_uncertainty)),
                 number("±" + significant(std::abs(sensitivity.elasticity) * c.relative_uncertainty * 100, 2) + " %"),
                 {c.source, "source"}});
        }
        out += html_table(rows, "The constants of machine and software that move the step time most, at " +
                                    thousands(last.tiles) +
                                    " tiles. Elasticity: percent of step time per percent of the constant.");
    }
    Rows kinds{{{"kind"}, number("constants"), {"meaning"}}};
    for (const KindCount& row : constants_by_kind(report)) {
        kinds.push_back({{to_string(row.kind)}, number(std::to_string(row.count)), {row.meaning}});
    }
    out += html_table(kinds, "How many of the " + thousands(static_cast<double>(report.constants.size())) +
                                 " constants of machine and software come from where.");
    Rows all{{{"constant"}, number("value"), {"kind"}, number("uncertainty"), {"source", "source"}}};
    for (const Constant& c : report.constants) {
        all.push_back({{c.path, "path"},
                       number(format_quantity(c.value, c.dimension)),
                       {to_string(c.kind)},
                       number("±" + percent(c.relative_uncertainty)),
                       {c.source, "source"}});
    }
    return out + "<details><summary>All constants with their sources</summary>\n" + html_table(all, {}) +
           "</details>\n";
}

std::string provenance_section(const ScalingReport& report) {
    std::string out = html_heading("provenance", "Where this page comes from");
    out += html_paragraph("This command makes the page again, byte for byte, from the same inputs:");
    out += "<pre>" + html_escape(report.command) + "</pre>\n";
    Rows rows{{{"input"}, {"file"}, {"SHA-256 of the file"}}};
    for (const InputFile& input : report.inputs) {
        rows.push_back({{input.role}, {input.file, "path"}, {input.sha256, "path"}});
    }
    out += html_table(rows, {});
    if (!report.overrides.empty()) {
        out += html_paragraph("Changed on the command line:") + html_list(report.overrides);
    }
    const bool proven = std::all_of(report.points.begin(), report.points.end(),
                                    [](const ScalePoint& point) { return point.prediction.executor_proven; });
    out += html_paragraph(
        proven ? "Every operation of the program of these steps is one that the trainer runs (executor-proven)."
               : "The trainer cannot run the program of these steps: it is simulated only (not executor-proven).");
    if (!report.layout_lines.empty()) {
        out += html_paragraph("The layout, which piece of the model lies where:") + html_list(report.layout_lines);
    }
    return out;
}

std::string glossary_section() {
    std::string out = html_heading("glossary", "Glossary") + "<dl>\n";
    for (const auto& [word, meaning] : glossary()) {
        out += "<dt>" + html_escape(word) + "</dt><dd>" + html_escape(meaning) + "</dd>\n";
    }
    return out + "</dl>\n";
}

}  // namespace

std::string render_html(const ScalingReport& report) {
    require_points(report);
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
        html_escape(report.title) + "</title>\n<style>" + kPageStyle + "</style>\n</head>\n<body><main>\n";
    out += head_section(report);
    out += points_section(report);
    out += scale_sections(report);
    out += losses_section(report);
    out += memory_section(report);
    out += constants_section(report);
    out += provenance_section(report);
    out += glossary_section();
    return out + "</main></body>\n</html>\n";
}

}  // namespace auspex::report
