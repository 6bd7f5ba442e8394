/// @file The page of a predicted step, section by section.
#include "report/prediction/prediction_page.hpp"

#include <algorithm>

#include "base/units.hpp"
#include "report/parts/loss_words.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/prediction/prediction_tables.hpp"
#include "report/prediction/waterfall_chart.hpp"
#include "report/scaling/charts.hpp"
#include "report/scaling/constant_tables.hpp"
#include "report/scaling/headlines.hpp"
#include "report/scaling/spread_words.hpp"
#include "report/scaling/story.hpp"
#include "report/timeline/timeline_figure.hpp"

namespace auspex::report {
namespace {

std::string source_of(const PredictionPage& page) { return source_line(page.command, page.inputs); }
std::string gigabytes(double bytes) { return significant(bytes / 1e9) + " GB"; }

/// What a training process has: a tile, or cores that it shares.
std::string process_of(const predict::Prediction& p) { return p.lens == predict::Lens::kCpu ? "rank" : "tile"; }

std::vector<Card> cards_of(const predict::Prediction& p) {
    std::vector<Card> cards{
        {duration(p.step_time_s),
         "a step; 90 %: " + interval_text(p.step_time_interval_s) + " s" +
             (!p.published_spread              ? ""
              : p.published_spread->sigma == 0 ? "; enough for nine of ten of " + spread_runs(*p.published_spread)
                                               : "; " + interval_text(p.step_time_interval_with_spread_s) +
                                                     " s with the spread of " + spread_runs(*p.published_spread))},
        {percent(p.mfu), "MFU of " + format_quantity(p.peak_flop_per_s, Dimension::kFlopPerSecond) +
                             (p.hfu > p.mfu ? "; with recomputed work " + percent(p.hfu) : "")},
        {percent(bubble_share(p)), "of the step idle in the pipeline (bubble)"},
        {gigabytes(p.memory.peak_bytes),
         std::string(p.memory.fits ? "in the fullest " : "does NOT fit: in the fullest ") + process_of(p) + ", of " +
             gigabytes(p.memory.capacity_bytes),
         !p.memory.fits},
        {short_count(p.tokens_per_s), "tokens/s; " + thousands(p.tokens_per_s_per_tile) + " a " + process_of(p)}};
    if (p.run_tokens > 0) {
        cards.push_back({thousands(p.node_hours), "node-hours for " + short_count(p.run_tokens) + " tokens, in " +
                                                      format_quantity(p.run_time_s, Dimension::kSeconds) +
                                                      ", without failures and queueing"});
    } else {
        cards.push_back(
            {significant(p.step_node_hours), "node-hours a step of " + short_count(p.tokens_per_step) + " tokens"});
    }
    return cards;
}

FirstScreen first_screen(const PredictionPage& page) {
    const predict::Prediction& p = page.prediction;
    FirstScreen first;
    first.title = page.workload + " on " + page.machine + ", " + counted(p.tiles, process_of(p)) + ": one step";
    first.kind = "One predicted step · workload " + page.workload + " · machine " + page.machine + " · stack " +
                 page.stack + " · plan " + page.plan + " · " + counted(p.nodes, "node");
    first.headline = step_headline(page.workload, page.machine, p);
    first.cards = cards_of(p);
    if (!p.waterfall.empty()) {
        first.figure = html_figure(
            picture_of([&](double width) { return waterfall_chart(p, width); }, kColumnPicture),
            {"From the peak to MFU: " + percent(p.mfu),
             "A bar is what a cause adds to the step; behind it its time, and the MFU of a step that had the "
             "causes up to it and no others. Blue: parts of useful compute.",
             source_of(page)});
    }
    return first;
}

std::string timeline_section(const PredictionPage& page) {
    if (!page.timeline || page.timeline->spans.empty()) {
        return page.prediction.unfolded
                   ? html_paragraph(
                         "The unfolded lens plays every tile, and keeps no timeline: the same command without "
                         "--lens unfolded draws that of the stages.")
                   : "";
    }
    const bool is_cpu = page.prediction.lens == predict::Lens::kCpu;
    return html_timeline(
        {{"", &*page.timeline}},
        {"The step over time",
         is_cpu ? "A row is a stream of a rank."
                : "A row is a stream of a pipeline stage, all of whose tiles do the same. It is of the play "
                  "in which the slowest stage has the expected slowest of all tiles.",
         source_of(page)},
        kMostTimelineBytes);
}

std::string memory_section(const PredictionPage& page) {
    const predict::MemoryReport& memory = page.prediction.memory;
    std::string out = html_paragraph(memory.verdict);
    if (!memory.by_stage.empty()) {
        out += html_figure(picture_of([&](double width) { return memory_chart(memory, width); }),
                           {"Memory of each pipeline stage",
                            "A bar is what one " + process_of(page.prediction) +
                                " of that stage holds when it holds most (GB above the bar). Red dashes: what it has.",
                            source_of(page)});
    }
    return out + memory_table(memory);
}

std::string provenance_section(const PredictionPage& page) {
    return html_provenance(page.command, page.inputs, page.overrides) +
           html_paragraph(page.prediction.executor_proven
                              ? "Every operation of this program is one that the trainer runs (executor-proven)."
                              : "The trainer cannot run this program: it is simulated only (not executor-proven).") +
           (page.layout_lines.empty() ? "" : html_paragraph("The layout:") + html_list(page.layout_lines));
}

}  // namespace

std::string render_prediction_html(const PredictionPage& page) {
    const predict::Prediction& p = page.prediction;
    const std::string constants =
        top_constants_table(p, "at " + counted(p.tiles, process_of(p))) + all_constants_table(page.constants);
    return html_page(first_screen(page), {{"losses", "Where the time goes", waterfall_table(p) + losses_table(p)},
                                          {"advice", "What would help", advice_section(page.advice)},
                                          {"run", "The whole run", page.run ? whole_run_section(*page.run) : ""},
                                          {"timeline", "The step over time", timeline_section(page)},
                                          {"operations", "Operations", operations_table(p, process_of(p))},
                                          {"memory", "Memory", memory_section(page)},
                                          {"links", "Links", links_table(p)},
                                          {"samples", "Samples", samples_section(p)},
                                          {"notes", "What to know", p.notes.empty() ? "" : html_list(p.notes)},
                                          {"constants", "What it leans on", constants},
                                          {"provenance", "Provenance", provenance_section(page)}});
}

void write_prediction_page(const PredictionPage& page, const std::string& directory) {
    write_report_file(make_report_folder(directory, "index.html") / "index.html", render_prediction_html(page));
}

}  // namespace auspex::report
