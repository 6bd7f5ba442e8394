/// @file The HTML page, section by section.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/parts/page.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/charts.hpp"
#include "report/scaling/constant_tables.hpp"
#include "report/scaling/headlines.hpp"
#include "report/scaling/scaling_report.hpp"
#include "report/scaling/story.hpp"
#include "report/scaling/waterfall.hpp"

namespace auspex::report {

namespace {

std::string gigabytes(double bytes) { return significant(bytes / 1e9); }

std::string source_of(const ScalingReport& report) { return source_line(report.command, report.inputs); }

std::vector<Card> cards_of(const ScalingReport& report) {
    const predict::Prediction& first = report.points.front().prediction;
    const ScalePoint& end = report.points.back();
    const predict::Prediction& last = end.prediction;
    double fullest = 0;
    bool fits = true;
    for (const ScalePoint& point : report.points) {
        fullest = std::max(fullest, point.prediction.memory.peak_bytes);
        fits = fits && point.prediction.memory.fits;
    }
    std::vector<Card> cards;
    if (report.points.size() > 1) {
        cards.push_back({percent(end.efficiency), "efficiency on " + thousands(last.tiles) + " tiles (" +
                                                      thousands(first.tiles) + " tiles = 100 %)"});
    }
    cards.push_back(
        {duration(last.step_time_s),
         "a step; 90 %: " + interval_text(last.step_time_interval_s) + " s" +
             (report.points.size() > 1 ? "; " + duration(first.step_time_s) + " on " + thousands(first.tiles) + " tiles"
                                       : "")});
    cards.push_back({percent(last.mfu), "MFU; with recomputed work " + percent(last.hfu)});
    cards.push_back({percent(bubble_share(last)), "of the step idle in the pipeline (bubble)"});
    cards.push_back({short_count(last.tokens_per_s), "tokens/s; " + thousands(last.tokens_per_s_per_tile) + " a tile"});
    if (last.run_tokens > 0) {
        cards.push_back({thousands(last.node_hours),
                         "node-hours for " + short_count(last.run_tokens) + " tokens, without failures and queueing"});
    } else {
        cards.push_back({significant(last.step_node_hours),
                         "node-hours a step of " + short_count(last.tokens_per_step) + " tokens"});
    }
    cards.push_back({gigabytes(fullest) + " GB",
                     std::string(fits ? "in the fullest tile, of " : "in the fullest tile: does NOT fit into ") +
                         gigabytes(first.memory.capacity_bytes) + " GB",
                     !fits});
    return cards;
}

Caption efficiency_caption(const ScalingReport& report) {
    const bool strong = report.mode == "strong";
    std::string text =
        std::string("At 100 % (dashed) ") +
        (strong ? "twice the tiles take half the time" : "every tile works as fast as at the first point") +
        "; the distance from it is what scaling costs. Thick: the prediction. Thin: the same with one cause switched "
        "off "
        "(details below).";
    if (!report.published.empty()) {
        text += " Diamonds: what was published, " + report.published_source + ".";
    }
    return {"Efficiency against tiles", text, source_of(report)};
}

FirstScreen first_screen(const ScalingReport& report) {
    FirstScreen first;
    first.title = report.title;
    first.kind =
        report.title + " · stack " + report.stack + " · plan " + report.plan + " · " + report.mode + " scaling";
    first.headline = scaling_headline(report);
    first.cards = cards_of(report);
    if (report.points.size() > 1) {
        first.figure =
            html_figure(picture_of([&](double width) { return efficiency_chart(report, width); }, kColumnPicture),
                        efficiency_caption(report));
    } else {
        first.figure =
            html_figure(picture_of([&](double width) { return loss_chart(report, width); }, kColumnPicture),
                        {"Where the time of a step goes", "The parts add up to the step.", source_of(report)});
    }
    return first;
}

std::string words_section(const ScalingReport& report) {
    std::string summary;
    for (const std::string& sentence : summary_sentences(report)) {
        summary += (summary.empty() ? "" : " ") + sentence;
    }
    return html_paragraph(summary) + (report.advice.empty() ? "" : html_paragraph(report.advice));
}

std::string points_section(const ScalingReport& report) {
    TableRows rows{{number("tiles"), number("nodes"), number("dp"), number("data_parallel"),
                    number("global batch", "sequences"), number("batch tokens", "tokens a step"),
                    main_column(number("step time", "seconds (interval)")), number("tokens/s"),
                    number("tokens/s a tile"), number("TFLOP/s", "per tile"), main_column(number("MFU")),
                    main_column(number("efficiency")), number("memory", "GB, fits?")}};
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
    std::string out = html_table(rows, "One row is one simulated step at that number of tiles.");
    out += html_paragraph(
        "tokens/s is how fast training text is consumed; MFU is the model's arithmetic as a share of "
        "the peak, here " +
            significant(first.peak_flop_per_s / 1e12) +
            " TFLOP/s a tile. The interval holds the true step time in about 9 of 10 cases as far as "
            "the constants are uncertain; it does not cover mechanisms that are left out.",
        "note");
    TableRows costs{
        {number("tiles"), number("tokens"), number("run time", "hours"), main_column(number("node-hours"))}};
    for (const ScalePoint& point : report.points) {
        const predict::Prediction& p = point.prediction;
        if (p.run_tokens > 0) {
            costs.push_back({number(thousands(p.tiles)), number_of(short_count(p.run_tokens), p.run_tokens),
                             number(significant(p.run_time_s / 3600)), number(thousands(p.node_hours))});
        }
    }
    return costs.size() > 1
               ? out + html_table(costs, "What the whole run costs, without checkpoints, failures and queueing.")
               : out;
}

/// Beside what was published, where anything was.
std::string published_table(const ScalingReport& report) {
    if (report.published.empty()) {
        return "";
    }
    TableRows rows{{number("tiles"), main_column(number("published")), main_column(number("predicted"))}};
    for (const PublishedPoint& point : report.published) {
        const auto found = std::find_if(report.points.begin(), report.points.end(),
                                        [&](const ScalePoint& one) { return one.prediction.tiles == point.tiles; });
        rows.push_back({number(thousands(point.tiles)), number(published_text(point)),
                        number(found == report.points.end() ? "" : percent(found->efficiency))});
    }
    return html_table(rows, "Efficiency as published and as predicted.") +
           html_paragraph("Published: " + report.published_source + ".", "note");
}

std::string efficiency_section(const ScalingReport& report) {
    if (report.points.size() < 2) {
        return html_paragraph(
            "This report has one point: there is nothing to compare it with. Give two or more numbers of tiles to see "
            "curves.");
    }
    TableRows rows{{number("tiles"), main_column(number("as predicted")), number("no detour delay"),
                    number("no background load"), number("neither of the two"), number("no stragglers")}};
    for (const ScalePoint& point : report.points) {
        rows.push_back({number(thousands(point.prediction.tiles)), number(percent(point.efficiency)),
                        number(percent(point.efficiency_without_detour_delay)),
                        number(percent(point.efficiency_without_background)),
                        number(percent(point.efficiency_without_both)),
                        number(percent(point.efficiency_without_stragglers))});
    }
    return published_table(report) + html_table(rows, "Efficiency with single causes switched off.") +
           html_paragraph(
               "The thin lines of the picture above are these columns: the wait on full links before the network "
               "detours "
               "(detour delay), other jobs' traffic (background load), both of these, or slow tiles (stragglers). The "
               "shaded band is the spread between the lines, not an error bar: the uncertainty of the step time is "
               "nearly "
               "the same at every point and hardly changes the picture. The vertical axis is cut to show the "
               "differences. "
               "Every line is measured against its own first point, which improves too when a cause is switched off: "
               "so a "
               "thin line, such as the one without stragglers, may lie below the prediction.",
               "note");
}

std::string throughput_section(const ScalingReport& report) {
    if (report.points.size() < 2) {
        return "";
    }
    return html_figure(
        picture_of([&](double width) { return throughput_chart(report, width); }),
        {"Tokens per second against tiles",
         "Both axes are logarithmic, so ideal scaling is a straight line (dashed). The bars and the band "
         "are the interval of the step time: the whole curve may move up or down within it, mostly "
         "together.",
         source_of(report)});
}

/// What each part adds between the first and the last point, or of strong scaling how its share changes.
std::string growth_table(const ScalingReport& report) {
    const predict::Prediction& first = report.points.front().prediction;
    const predict::Prediction& last = report.points.back().prediction;
    TableRows rows{{{"part"},
                    number(thousands(first.tiles) + " tiles", "seconds"),
                    main_column(number(thousands(last.tiles) + " tiles", "seconds")),
                    main_column(number("change", "seconds")),
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
    return html_table(rows, report.mode == "strong"
                                ? "Causes: how each part's share of the step changes between the first and the last "
                                  "point, largest first."
                                : "Causes: what each part adds between the first and the last point, largest first.");
}

std::string losses_section(const ScalingReport& report) {
    std::string out = html_figure(picture_of([&](double width) { return loss_chart(report, width); }),
                                  {"Where the time of a step goes",
                                   "A bar is one step, as a mean over all tiles. Its parts add up to the step exactly; "
                                   "the percentages are shares of that step.",
                                   source_of(report)});
    TableRows legend{{{"part"}, {"what it is"}}};
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
    out += html_table(legend, absent.empty() ? "Legend." : "Legend. Zero at every point, so not drawn: " + absent + ".",
                      {.is_sorted = true});
    out += waterfalls_table(report.points);
    return report.points.size() < 2 ? out : out + growth_table(report);
}

std::string memory_section(const ScalingReport& report) {
    const predict::Prediction& first = report.points.front().prediction;
    std::string out;
    if (!first.memory.by_stage.empty()) {
        out += html_figure(picture_of([&](double width) { return memory_chart(first.memory, width); }),
                           {"Memory of each pipeline stage",
                            "A bar is what one tile of that pipeline stage holds, on " + thousands(first.tiles) +
                                " tiles, at the moment in the step when it holds most (GB above the bar). Red dashes: "
                                "what a tile has.",
                            source_of(report)});
    }
    TableRows rows{
        {number("tiles"), number("heaviest stage"), main_column(number("GB")), {"largest parts"}, {"verdict"}}};
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
    std::string out;
    const std::vector<std::string> notes = notes_of(report);
    if (!notes.empty()) {
        out += html_paragraph("What to know before using the numbers:") + html_list(notes);
    }
    out += top_constants_table(last, "at " + counted(last.tiles, "tile"));
    TableRows kinds{{{"kind"}, number("constants"), {"meaning"}}};
    for (const KindCount& row : constants_by_kind(report)) {
        kinds.push_back({{to_string(row.kind)}, number(std::to_string(row.count)), {row.meaning}});
    }
    out += html_table(kinds, "How many of the " + thousands(static_cast<double>(report.constants.size())) +
                                 " constants of machine and software come from where.");
    return out + all_constants_table(report.constants);
}

std::string provenance_section(const ScalingReport& report) {
    std::string out = html_provenance(report.command, report.inputs, report.overrides);
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
    std::string out = "<dl>\n";
    for (const auto& [word, meaning] : glossary()) {
        out += "<dt>" + html_escape(word) + "</dt><dd>" + html_escape(meaning) + "</dd>\n";
    }
    return out + "</dl>\n";
}

}  // namespace

std::string render_html(const ScalingReport& report) {
    require_points(report);
    return html_page(first_screen(report), {{"words", "In words", words_section(report)},
                                            {"points", "The points", points_section(report)},
                                            {"efficiency", "Efficiency", efficiency_section(report)},
                                            {"throughput", "Throughput", throughput_section(report)},
                                            {"losses", "Where the time goes", losses_section(report)},
                                            {"memory", "Memory", memory_section(report)},
                                            {"constants", "What it leans on", constants_section(report)},
                                            {"provenance", "Provenance", provenance_section(report)},
                                            {"glossary", "Glossary", glossary_section()}});
}

}  // namespace auspex::report
