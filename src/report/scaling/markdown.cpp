/// @file The Markdown page: the tables without the pictures.
#include <string>
#include <vector>

#include "report/parts/markdown_parts.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/scaling_report.hpp"
#include "report/scaling/story.hpp"

namespace auspex::report {

namespace {

using Row = MarkdownRow;

std::string points_table(const ScalingReport& report) {
    std::vector<Row> rows{{"tiles", "nodes", "dp", "data_parallel", "sequences", "tokens a step", "step s",
                           "interval s", "tokens/s", "tokens/s a tile", "TFLOP/s a tile", "MFU", "efficiency",
                           "memory GB", "fits"}};
    for (const ScalePoint& point : report.points) {
        const predict::Prediction& p = point.prediction;
        rows.push_back({thousands(p.tiles), thousands(p.nodes), thousands(p.dp), thousands(p.data_parallel),
                        thousands(p.global_batch), thousands(p.tokens_per_step), significant(p.step_time_s),
                        interval_text(p.step_time_interval_s), thousands(p.tokens_per_s),
                        significant(p.tokens_per_s_per_tile, 4), significant(p.tflops_per_tile), percent(p.mfu),
                        percent(point.efficiency), significant(p.memory.peak_bytes / 1e9),
                        p.memory.fits ? "yes" : "NO"});
    }
    return markdown_table(rows, 0);
}

std::string variants_table(const ScalingReport& report) {
    std::vector<Row> rows{
        {"tiles", "as predicted", "no detour delay", "no background load", "neither of the two", "no stragglers"}};
    for (const ScalePoint& point : report.points) {
        rows.push_back({thousands(point.prediction.tiles), percent(point.efficiency),
                        percent(point.efficiency_without_detour_delay), percent(point.efficiency_without_background),
                        percent(point.efficiency_without_both), percent(point.efficiency_without_stragglers)});
    }
    return markdown_table(rows, 0);
}

std::string run_table(const ScalingReport& report) {
    std::vector<Row> rows{{"tiles", "tokens", "run time, hours", "node-hours"}};
    for (const ScalePoint& point : report.points) {
        const predict::Prediction& p = point.prediction;
        if (p.run_tokens > 0) {
            rows.push_back({thousands(p.tiles), short_count(p.run_tokens), significant(p.run_time_s / 3600),
                            thousands(p.node_hours)});
        }
    }
    return rows.size() > 1
               ? "What the whole run costs, without checkpoints, failures and queueing:\n\n" + markdown_table(rows, 0)
               : "";
}

std::string losses_table(const ScalingReport& report) {
    if (report.points.size() < 2) {
        std::vector<Row> rows{{"part", "what it is", "s", "% of step"}};
        for (const LossGrowth& row : loss_growth(report)) {
            rows.push_back(
                {readable(row.loss), meaning_of(row.loss), significant(row.last_s), percent(row.last_share)});
        }
        return markdown_table(rows, 2);
    }
    const std::string first = thousands(report.points.front().prediction.tiles) + " tiles";
    const std::string last = thousands(report.points.back().prediction.tiles) + " tiles";
    std::vector<Row> rows{
        {"part", "what it is", first + ", s", last + ", s", "change, s", first + ", % of step", last + ", % of step"}};
    for (const LossGrowth& row : loss_growth(report)) {
        rows.push_back({readable(row.loss), meaning_of(row.loss), significant(row.first_s), significant(row.last_s),
                        change_text(row.last_s - row.first_s), percent(row.first_share), percent(row.last_share)});
    }
    return markdown_table(rows, 2);
}

std::string constants_tables(const ScalingReport& report) {
    std::vector<Row> leans{{"constant", "kind", "source", "value", "elasticity", "uncertainty"}};
    for (const predict::ConstantSensitivity& sensitivity : report.points.back().prediction.top_constants) {
        const Constant& c = sensitivity.constant;
        leans.push_back({c.path, to_string(c.kind), c.source, format_quantity(c.value, c.dimension),
                         signed_significant(sensitivity.elasticity, 2), "±" + percent(c.relative_uncertainty)});
    }
    std::vector<Row> kinds{{"kind", "meaning", "constants"}};
    for (const KindCount& row : constants_by_kind(report)) {
        kinds.push_back({to_string(row.kind), row.meaning, std::to_string(row.count)});
    }
    return (leans.size() > 1 ? markdown_table(leans, 3) : "") + markdown_table(kinds, 2);
}

}  // namespace

std::string render_markdown(const ScalingReport& report) {
    require_points(report);
    std::string out = "# " + markdown_escape(report.title) + "\n\n";
    for (const std::string& sentence : summary_sentences(report)) {
        out += markdown_escape(sentence) + "\n";
    }
    out += (report.advice.empty() ? "" : "\n" + markdown_escape(report.advice) + "\n");
    out += "\n## The points\n\n" + points_table(report) + run_table(report);
    if (report.points.size() > 1) {
        out += "## Efficiency with single causes switched off\n\n![Efficiency against tiles](efficiency.svg)\n\n" +
               variants_table(report) +
               "Each column is measured against its own first point, which improves too when a cause is switched off: "
               "a column may be below the prediction.\n\n";
    }
    out += "## Where the time of a step goes\n\n" + losses_table(report);
    out += "## What the prediction leans on\n\n";
    const std::vector<std::string> notes = notes_of(report);
    if (!notes.empty()) {
        out += "What to know before using the numbers:\n\n" + markdown_list(notes);
    }
    out += constants_tables(report);
    out += "## Where this comes from\n\nThis command makes the report again:\n\n" + markdown_code(report.command);
    out += markdown_inputs(report.inputs);
    if (!report.overrides.empty()) {
        out += "Changed on the command line:\n\n" + markdown_list(report.overrides);
    }
    if (!report.layout_lines.empty()) {
        out += "The layout:\n\n" + markdown_list(report.layout_lines);
    }
    out += "Words are explained in the glossary at the end of index.html, beside this file.\n";
    return out;
}

}  // namespace auspex::report
