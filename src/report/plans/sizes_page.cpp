/// @file The page of sizes, section by section.
#include "report/plans/sizes_page.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/number_text.hpp"
#include "base/units.hpp"
#include "report/campaign/campaign_words.hpp"
#include "report/campaign/finish_plane.hpp"
#include "report/parts/page.hpp"
#include "report/parts/picture.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kDay = 86'400;

bool ends(const SizeRow& row) { return row.why_no_plan.empty() && std::isfinite(row.finish.elapsed_s.p50); }
double day_of(const SizeRow* row) { return row->finish.elapsed_s.p50 / kDay; }
double hours_of(const SizeRow* row) { return row->finish.node_hours.p50; }

std::string tiles_words(const SizeRow& row) { return counted(row.tiles, "tile"); }
std::string finish_words(const SizeRow& row) {
    return "over after " + span_words(row.finish.elapsed_s.p50) + ", " + count_words(row.finish.node_hours.p50) +
           " node-hours";
}

/// A cell that sorts by a value, which may be infinite.
Cell sorted_by(std::string text, double value, std::string small = {}) {
    return number_of(std::move(text), std::min(value, 1e300), std::move(small));
}

std::string sizes_table(const SizesPage& page) {
    TableRows rows{{number("tiles"),
                    number("nodes", "spares"),
                    main_column(number("over after (median)", "10 to 90 %")),
                    main_column(number("node hours (median)")),
                    number("goodput", "interruptions"),
                    number("checkpoint every"),
                    number("step", "MFU"),
                    {"layout"}}};
    for (const SizeRow& row : page.rows) {
        if (!row.why_no_plan.empty()) {
            continue;
        }
        const PlanFinish& one = row.finish;
        rows.push_back({number(thousands(row.tiles), row.is_on_front ? "on the front" : ""),
                        number(thousands(one.nodes), one.spares ? counted(*one.spares, "spare") : "another at hand"),
                        sorted_by(span_words(one.elapsed_s.p50), one.elapsed_s.p50,
                                  span_words(one.elapsed_s.p10) + " to " + span_words(one.elapsed_s.p90)),
                        sorted_by(count_words(one.node_hours.p50), one.node_hours.p50),
                        sorted_by(percent(one.goodput, 2), one.goodput, significant(one.interruptions)),
                        sorted_by(span_words(one.interval_s), one.interval_s),
                        sorted_by(duration(row.step_time_s), row.step_time_s, percent(row.mfu)),
                        {row.line, "line"}});
    }
    return html_table(rows, "A size by its layout that is over first, the mean of goodput and interruptions.");
}

std::string search_section(const SizesPage& page) {
    std::string out = html_paragraph("Played were " + counted(static_cast<double>(page.played), "layout") +
                                     ", those with the shortest steps of each "
                                     "size, " +
                                     counted(page.samples, "campaign") + " each (seed " + std::to_string(page.seed) +
                                     "), with the same draws of failures.");
    if (page.rows.size() < page.wanted) {
        out += html_paragraph("The search was ended early: " + std::to_string(page.rows.size()) + " of " +
                                  std::to_string(page.wanted) + " sizes were searched.",
                              "bad");
    }
    TableRows rows{{number("tiles"), number("plans that divide tiles and batch"), {"why there is none"}}};
    for (const SizeRow& row : page.rows) {
        rows.push_back(
            {number(thousands(row.tiles)), number(thousands(static_cast<double>(row.space))), {row.why_no_plan}});
    }
    return out + html_table(rows, "Sizes that were searched.");
}

FirstScreen first_screen(const SizesPage& page) {
    const SizeRow &first = page.rows[page.first], &cheapest = page.rows[page.cheapest];
    FirstScreen screen;
    screen.title = screen.kind =
        page.subject + ": when a run of " + short_count(page.tokens) + " tokens is over, by size";
    screen.headline = sizes_headline(page);
    screen.cards = {{thousands(first.tiles), "tiles are over first, " + counted(first.finish.nodes, "node")},
                    {span_words(first.finish.elapsed_s.p50), "half of its runs are over by then"},
                    {span_words(first.finish.elapsed_s.p90), "nine of ten are"},
                    {count_words(first.finish.node_hours.p50), "node hours of it, median"},
                    {percent(first.finish.goodput), "goodput: steps that were not done before"},
                    {thousands(cheapest.tiles),
                     "tiles take the fewest node hours: " + count_words(cheapest.finish.node_hours.p50)}};
    const Picture picture = picture_of([&](double width) { return sizes_chart(page, width); }, kColumnPicture);
    screen.figure =
        picture.wide.empty()
            ? ""
            : html_figure(picture, {"What a finish costs, by size",
                                    "A mark is a size with its layout that is over first, both in the median. The line "
                                    "is the front, on which no other is over before with no more node hours.",
                                    source_line(page.command, page.inputs)});
    screen.remarks =
        html_paragraph(first.line + ": " + duration(first.step_time_s) + " a step, " + percent(first.mfu) +
                       " MFU, a checkpoint every " + span_words(first.finish.interval_s) + ". best.json is this plan.");
    return screen;
}

}  // namespace

std::string sizes_headline(const SizesPage& page) {
    const SizeRow &first = page.rows[page.first], &cheapest = page.rows[page.cheapest];
    if (!ends(first)) {
        return "At none of these sizes does a run end: it loses as much as it does";
    }
    const std::string head = "Over first of " + counted(static_cast<double>(page.rows.size()), "size") + ": " +
                             tiles_words(first) + ", half of the runs of " + short_count(page.tokens) +
                             " tokens after " + span_words(first.finish.elapsed_s.p50);
    return head + (page.first == page.cheapest
                       ? ", with the fewest node-hours, too: " + count_words(first.finish.node_hours.p50)
                       : "; fewest node-hours: " + tiles_words(cheapest) + ", " + finish_words(cheapest));
}

std::string sizes_chart(const SizesPage& page, double width) {
    std::vector<const SizeRow*> rows;
    for (const SizeRow& row : page.rows) {
        if (ends(row)) {
            rows.push_back(&row);
        }
    }
    if (rows.empty()) {
        return "";
    }
    std::ranges::sort(rows, {}, day_of);
    const auto [least, most] = std::ranges::minmax(rows, {}, hours_of);
    const FinishPlane plane =
        finish_plane(width, {day_of(rows.front()), day_of(rows.back()), hours_of(least), hours_of(most)});
    Svg svg(width, plane.frame.bottom + kBelowAxis, "Finish against node hours, by size",
            "medians of sizes; the line is the front");
    draw_finish_axes(svg, plane);
    std::vector<SvgPoint> stairs;
    for (const SizeRow* const row : rows) {
        const SvgPoint at{plane.x(day_of(row)), plane.y(hours_of(row))};
        if (row->is_on_front) {
            add_stair(stairs, at);
        }
        svg.marker(at, 0, row->is_on_front ? "mark v0" : "mark v2", tiles_words(*row) + ": " + finish_words(*row));
        const bool is_at_right = at.x > (plane.frame.left + plane.frame.right) / 2;
        svg.text({at.x + (is_at_right ? -8 : 8), at.y - 8}, thousands(row->tiles), "tick",
                 is_at_right ? "end" : "start");
    }
    svg.polyline(stairs, "front");
    return std::move(svg).finish();
}

std::string render_sizes_html(const SizesPage& page) {
    const std::vector<std::string>& of_run = page.rows[page.first].finish.notes;
    return html_page(
        first_screen(page),
        {{"sizes", "The sizes", sizes_table(page)},
         {"run-notes", "What to know of the run that is over first", of_run.empty() ? "" : html_list(of_run)},
         {"notes", "What to know of its step", page.notes.empty() ? "" : html_list(page.notes)},
         {"search", "What was searched", search_section(page)},
         {"provenance", "Provenance", html_provenance(page.command, page.inputs, page.overrides)}});
}

}  // namespace auspex::report
