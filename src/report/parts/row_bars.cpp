/// @file Rows of bars, drawn.
#include "report/parts/row_bars.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "report/parts/plot_frame.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kGap = 10, kNameLine = 17, kTop = 8;

struct Geometry {
    bool names_above = false;
    double bar = 0;  ///< height of one
    SvgScale x;
};

std::size_t longest_name(const RowBarChart& chart) {
    std::size_t longest = 0;
    for (const BarRow& row : chart.rows) {
        longest = std::max(longest, row.name.size());
    }
    return longest;
}

std::size_t lines_of(const RowBarChart& chart, const BarRow& row) { return chart.is_shared_line ? 1 : row.bars.size(); }

Geometry geometry_of(const RowBarChart& chart, double width) {
    double low = 0, high = chart.least_end;
    for (const BarRow& row : chart.rows) {
        for (const RowBar& bar : row.bars) {
            low = std::min({low, bar.from, bar.to});
            high = std::max({high, bar.from, bar.to});
        }
    }
    AUSPEX_CHECK(high > low, "bars have a length");
    Geometry geometry;
    const double names = text_width(longest_name(chart)) + 18;
    geometry.names_above = width <= kPhonePicture || names > 0.45 * width;
    const double after = text_width(static_cast<std::size_t>(chart.text_characters)) + 14;
    const double left = geometry.names_above ? 10 : names;
    const double room_before = low < 0 ? after : 0;  // texts of bars that go down stand in front of them
    geometry.bar = geometry.names_above ? 15 : 16;
    geometry.x = {low, high, left + room_before, width - after};
    return geometry;
}

double height_of(const RowBarChart& chart, const BarRow& row, const Geometry& geometry) {
    return (geometry.names_above ? kNameLine : 0) + geometry.bar * static_cast<double>(lines_of(chart, row)) + kGap;
}

void draw_bar(Svg& svg, const RowBar& bar, const Geometry& geometry, double y) {
    const double from = geometry.x(bar.from), to = geometry.x(bar.to);
    const double begin = std::min(from, to), wide = std::max(std::abs(to - from), 1.0);
    svg.rect({begin, y}, wide, geometry.bar - 2, "l" + std::to_string(bar.color), bar.tooltip);
    if (!bar.text.empty()) {
        const bool is_down = bar.to < bar.from && geometry.x.low < 0;
        svg.text({is_down ? begin - 6 : begin + wide + 6, y + geometry.bar / 2 + 4}, bar.text, "tick",
                 is_down ? "end" : "start");
    }
}

double draw_row(Svg& svg, const RowBarChart& chart, const BarRow& row, const Geometry& geometry, double y) {
    const double bars = geometry.bar * static_cast<double>(lines_of(chart, row));
    if (geometry.names_above) {
        svg.text({16, y + 12}, row.name, "label");  // beside the axis
        y += kNameLine;
    } else {
        const double names = text_width(longest_name(chart)) + 10;
        svg.text({names, y + bars / 2 + 4}, row.name, "label", "end");
    }
    for (std::size_t i = 0; i < row.bars.size(); ++i) {
        draw_bar(svg, row.bars[i], geometry, y + (chart.is_shared_line ? 0 : geometry.bar * static_cast<double>(i)));
    }
    return y + bars + kGap;
}

void draw_grid(Svg& svg, const RowBarChart& chart, const Geometry& geometry, double top, double bottom, int wanted) {
    const std::vector<double> ticks = round_ticks(geometry.x.low, geometry.x.high, wanted);
    for (const double tick : ticks) {
        const double at = geometry.x(tick);
        if (tick >= geometry.x.low && tick <= geometry.x.high * 1.0001) {
            svg.line({at, top}, {at, bottom}, tick == 0 ? "axis" : "grid");
            const std::string text = fixed(tick, decimals_of_step(ticks[1] - ticks[0]));
            svg.text({std::max(at, text_width(text.size()) / 2 + 2), bottom + 16}, text, "tick", "middle");
        }
    }
    svg.text({(geometry.x.from + geometry.x.to) / 2, bottom + 36}, chart.axis_name, "name", "middle");
}

double draw_legend(Svg& svg, const RowBarChart& chart, double width) {
    double x = 8, y = kTop + 12;
    for (const auto& [color, text] : chart.legend) {
        const double wide = 17 + text_width(text.size());
        if (x > 8 && x + wide > width - 8) {
            x = 8;
            y += 20;
        }
        svg.rect({x, y - 10}, 11, 11, "l" + std::to_string(color), {});
        svg.text({x + 17, y}, text, "tick");
        x += wide + 16;
    }
    return chart.legend.empty() ? kTop : y + 12;
}

}  // namespace

std::string row_bar_chart(const RowBarChart& chart, double width) {
    AUSPEX_CHECK(!chart.rows.empty(), "bars have rows");
    const Geometry geometry = geometry_of(chart, width);
    Svg svg(width, 0, chart.title, chart.description);
    const double top = draw_legend(svg, chart, width);
    double bottom = top;
    for (const BarRow& row : chart.rows) {
        bottom += height_of(chart, row, geometry);
    }
    draw_grid(svg, chart, geometry, top, bottom, width <= kPhonePicture ? 4 : 6);
    double y = top;
    for (const BarRow& row : chart.rows) {
        y = draw_row(svg, chart, row, geometry, y);
    }
    svg.set_height(bottom + 46);
    return std::move(svg).finish();
}

}  // namespace auspex::report
