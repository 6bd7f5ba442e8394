/// @file Goodput by interval: a curve and a band of predictions, marks of what was measured.
#include <algorithm>
#include <set>
#include <vector>

#include "report/endurance/endurance_report.hpp"
#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr std::size_t kStyles = 7;

/// By interval.
std::vector<EnduranceRow> rows_of(const EnduranceReport& report, double mtbf_s) {
    std::vector<EnduranceRow> rows;
    std::ranges::copy_if(report.rows, std::back_inserter(rows),
                         [&](const EnduranceRow& row) { return row.mtbf_s == mtbf_s && row.runs > 0; });
    std::ranges::sort(rows, {}, &EnduranceRow::every);
    return rows;
}

void draw_curve(Svg& svg, const std::vector<EnduranceRow>& rows, std::size_t style, const SvgScale& x,
                const SvgScale& y) {
    std::vector<SvgPoint> band, line;
    for (const EnduranceRow& row : rows) {
        line.push_back({x(row.every), y(100 * row.predicted.goodput)});
        band.push_back({x(row.every), y(100 * row.p90)});
    }
    std::for_each(rows.rbegin(), rows.rend(), [&](const EnduranceRow& row) {
        band.push_back({x(row.every), y(100 * row.p10)});
    });
    svg.polygon(band, "band");
    svg.polyline(line, "curve v" + std::to_string(style));
    for (const EnduranceRow& row : rows) {
        svg.marker({x(row.every), y(100 * row.measured.goodput)}, style, "mark v" + std::to_string(style),
                   "every " + counted(row.every, "step") + ": measured " + percent(row.measured.goodput) +
                       ", predicted " + percent(row.predicted.goodput));
    }
}

}  // namespace

std::string goodput_chart(const EnduranceReport& report, double width) {
    std::set<double> mtbfs_s, intervals;
    double most = 0;
    for (const EnduranceRow& row : report.rows) {
        if (row.runs > 0) {
            mtbfs_s.insert(row.mtbf_s);
            intervals.insert(row.every);
            most = std::max({most, row.p90, row.measured.goodput});
        }
    }
    if (intervals.empty()) {
        return "";
    }
    const PlotFrame frame = plot_frame(width, {.left = 76, .names = 190, .top = 24, .height = 320});
    const std::vector<double> ticks_y = round_ticks(0, 100 * most, 6);
    const double first = *intervals.begin(), last = std::max(*intervals.rbegin(), first * 1.01);
    const SvgScale x{first, last, frame.left, frame.right, true};
    const SvgScale y{0, ticks_y.back(), frame.bottom, frame.top};
    Svg svg(width, 0, "Goodput by interval between checkpoints", "measured beside predicted");
    std::vector<std::string> texts_y, texts;
    std::ranges::transform(ticks_y, std::back_inserter(texts_y), tick_count);
    draw_value_axis(svg, frame, y, ticks_y, texts_y, "goodput, %");
    const std::vector<double> ticks(intervals.begin(), intervals.end());
    std::ranges::transform(ticks, std::back_inserter(texts), thousands);
    draw_bottom_axis(svg, frame, x, ticks, texts, "steps between checkpoints");
    std::vector<SvgLabel> names;
    std::size_t style = 0;
    for (const double mtbf_s : mtbfs_s) {
        const std::vector<EnduranceRow> rows = rows_of(report, mtbf_s);
        draw_curve(svg, rows, style, x, y);
        const double end = y(100 * rows.back().predicted.goodput);
        names.push_back({end, "a kill each " + duration(mtbf_s), "label v" + std::to_string(style), end});
        names.back().curve = static_cast<int>(style);
        names.back().shape = style;
        style = (style + 1) % kStyles;
    }
    svg.set_height(draw_names(svg, frame, names, x(last)));
    return std::move(svg).finish();
}

}  // namespace auspex::report
