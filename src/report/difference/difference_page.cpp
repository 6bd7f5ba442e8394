/// @file The page, section by section.
#include "report/difference/difference_page.hpp"

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "report/difference/difference_text.hpp"
#include "report/parts/loss_words.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/row_bars.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/headlines.hpp"
#include "report/scaling/story.hpp"
#include "report/timeline/timeline_figure.hpp"

namespace auspex::report {
namespace {

constexpr int kBeforeColor = 0, kAfterColor = 2;
constexpr std::size_t kMostTimelineBytes = 1'500'000;

/// Files of both; those of the second that are the first's stand once.
std::vector<InputFile> files_of(const Difference& difference) {
    std::vector<InputFile> files = difference.before.inputs;
    for (const InputFile& input : difference.after.inputs) {
        const bool is_known = std::ranges::any_of(
            files, [&](const InputFile& one) { return one.file == input.file && one.role == input.role; });
        if (!is_known) {
            files.push_back(input);
        }
    }
    return files;
}

std::string source_of(const DifferencePage& page) { return source_line(page.command, files_of(page.difference)); }

std::vector<Card> cards_of(const Difference& difference) {
    const predict::Prediction &a = difference.before.prediction, &b = difference.after.prediction;
    const auto card = [](const std::string& before, const std::string& after, const std::string& what) {
        return Card{before == after ? after : before + " → " + after, what};
    };
    Card memory = card(significant(a.memory.peak_bytes / 1e9), significant(b.memory.peak_bytes / 1e9) + " GB",
                       std::string("in the fullest tile, of ") + significant(b.memory.capacity_bytes / 1e9) + " GB" +
                           (b.memory.fits ? "" : ": does NOT fit"));
    memory.bad = !b.memory.fits;
    return {card(duration(a.step_time_s), duration(b.step_time_s), "a step"),
            card(percent(a.mfu), percent(b.mfu), "MFU"),
            card(percent(bubble_share(a)), percent(bubble_share(b)), "of the step idle in the pipeline (bubble)"),
            memory,
            card(short_count(a.tokens_per_s), short_count(b.tokens_per_s), "tokens/s"),
            card(significant(a.step_node_hours), significant(b.step_node_hours), "node-hours a step")};
}

std::string inputs_section(const Difference& difference) {
    if (difference.inputs.empty()) {
        return html_paragraph(difference.role == "result" ? "The same inputs by name." : "The same inputs.");
    }
    TableRows rows{{{"field"}, main_column({"before"}), main_column({"after"})}};
    for (const InputChange& one : difference.inputs) {
        rows.push_back({{one.path, "path"},
                        {one.before.empty() ? "-" : one.before, "any"},
                        {one.after.empty() ? "-" : one.after, "any"}});
    }
    return html_table(rows, "Inputs that differ.", {.row_name = "fields", .is_tall = rows.size() > 40});
}

/// A row of deltas: `text` makes a value of its number.
template <typename Text>
std::vector<Cell> delta_row(Cell name, const NumberChange& row, const Text& text) {
    const std::string sign = row.change() < 0 ? "−" : "+";
    return {std::move(name), number_of(text(row.before), row.before), number_of(text(row.after), row.after),
            row.change() == 0 ? number("") : number_of(sign + text(std::abs(row.change())), row.change()),
            number(relative_change(row))};
}

std::vector<Cell> delta_head(const std::string& name) {
    return {{name}, number("before"), main_column(number("after")), main_column(number("change")), number("relative")};
}

std::string totals_table(const Difference& difference) {
    TableRows rows{delta_head("total")};
    for (const NumberChange& total : difference.totals) {
        rows.push_back({{total.name, "path"},
                        number(total_text(total.name, total.before)),
                        number(total_text(total.name, total.after)),
                        number(total.change() == 0 ? "" : change_of_total(total)),
                        number(relative_change(total))});
    }
    return html_table(rows, "Totals.", {.is_sorted = true});
}

std::string losses_table(const Difference& difference) {
    TableRows rows{delta_head("part")};
    const auto seconds = [](double value) { return duration(value); };
    const predict::Prediction &a = difference.before.prediction, &b = difference.after.prediction;
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        const NumberChange row{"", to_seconds(a.losses[loss]), to_seconds(b.losses[loss])};
        if (row.before != 0 || row.after != 0) {
            rows.push_back(delta_row({readable(static_cast<schedule::Loss>(loss)), "part", {}, static_cast<int>(loss)},
                                     row, seconds));
        }
    }
    rows.push_back(delta_row({"whole step", "whole"}, {"", a.step_time_s, b.step_time_s}, seconds));
    return html_table(rows, "Where the step goes (mean over tiles).");
}

std::string operations_table(const Difference& difference) {
    if (difference.operations.empty()) {
        return html_paragraph("Every operation takes as long in both.");
    }
    TableRows rows{delta_head("operation")};
    for (const NumberChange& row : difference.operations) {
        rows.push_back(delta_row({row.name, "path"}, row, duration));
    }
    return html_table(rows, "Operations that differ, the largest change first (mean over tiles).",
                      {.row_name = "operations", .filter_example = "attention, or change<0", .is_tall = true});
}

std::string memory_table(const Difference& difference) {
    if (difference.memory.empty()) {
        return html_paragraph("The same memory under every label.");
    }
    TableRows rows{delta_head("label")};
    for (const NumberChange& row : difference.memory) {
        rows.push_back(
            delta_row({row.name}, row, [](double bytes) { return format_quantity(bytes, Dimension::kBytes); }));
    }
    return html_table(rows, "Memory of the fullest tile at its peak, by label.");
}

std::string timelines_section(const DifferencePage& page) {
    const ComparedSide &before = page.difference.before, &after = page.difference.after;
    const auto has_spans = [](const ComparedSide& side) { return side.timeline && !side.timeline->spans.empty(); };
    if (!has_spans(before) || !has_spans(after)) {
        return html_paragraph(
            "A saved result has no timeline. Given the inputs themselves (two plans, machines, stacks "
            "or workloads), auspex diff draws both.");
    }
    return html_timeline({{before.label + ", " + duration(before.prediction.step_time_s), &*before.timeline},
                          {after.label + ", " + duration(after.prediction.step_time_s), &*after.timeline}},
                         {"Both steps on one time axis",
                          "A row is a stream of a pipeline stage, all of whose tiles do the same.", source_of(page)},
                         kMostTimelineBytes);
}

std::string notes_section(const Difference& difference) {
    std::string out;
    for (const ComparedSide* side : {&difference.before, &difference.after}) {
        if (!side->prediction.notes.empty()) {
            out += html_paragraph("Of " + side->label + ":") + html_list(side->prediction.notes);
        }
    }
    return out;
}

}  // namespace

std::string difference_chart(const Difference& difference, double width) {
    RowBarChart chart{
        "Where the step goes, before and after",
        "two bars for each part of the step; a table has the numbers",
        "seconds of the step",
        {},
        {{kBeforeColor, "before: " + difference.before.label}, {kAfterColor, "after: " + difference.after.label}}};
    chart.text_characters = 11;
    const predict::Prediction &a = difference.before.prediction, &b = difference.after.prediction;
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        const double before_s = to_seconds(a.losses[loss]), after_s = to_seconds(b.losses[loss]);
        if (before_s != 0 || after_s != 0) {
            chart.rows.push_back({readable(static_cast<schedule::Loss>(loss)),
                                  {{0, before_s, kBeforeColor, duration(before_s), {}},
                                   {0, after_s, kAfterColor, duration(after_s), {}}}});
        }
    }
    return row_bar_chart(chart, width);
}

std::string render_difference_html(const DifferencePage& page) {
    const Difference& difference = page.difference;
    FirstScreen first;
    const std::string what = difference.role == "result" ? "Two predictions" : "Two " + difference.role + "s";
    first.title = what + ": " + difference.before.label + " and " + difference.after.label;
    first.kind = what + " · before: " + difference.before.label + " · after: " + difference.after.label;
    first.headline = difference_headline(difference);
    first.cards = cards_of(difference);
    first.figure =
        html_figure(picture_of([&](double width) { return difference_chart(difference, width); }, kColumnPicture),
                    {"Where the step goes, before and after",
                     "Parts of the step as a mean over tiles; those of each step add up to it.", source_of(page)});
    return html_page(
        first, {{"inputs", "What differs", inputs_section(difference)},
                {"totals", "What changes", totals_table(difference) + losses_table(difference)},
                {"timelines", "Both steps over time", timelines_section(page)},
                {"operations", "Operations", operations_table(difference)},
                {"memory", "Memory", memory_table(difference)},
                {"notes", "What to know", notes_section(difference)},
                {"provenance", "Provenance", html_provenance(page.command, files_of(difference), page.overrides)}});
}

void write_difference_page(const DifferencePage& page, const std::string& directory) {
    write_report_file(make_report_folder(directory, "index.html") / "index.html", render_difference_html(page));
}

}  // namespace auspex::report
