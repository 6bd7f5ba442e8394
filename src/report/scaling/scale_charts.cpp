/// @file The curves against the number of tiles.
#include <algorithm>
#include <array>
#include <cmath>

#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/charts.hpp"

namespace auspex::report {

namespace {

constexpr double kWidth = 860, kHeight = 430;
constexpr double kLeft = 76, kRight = 640, kTop = 24, kBottom = 370;
constexpr double kLabelX = kRight + 22, kLabelGap = 18;

struct Variant {
    double ScalePoint::*efficiency;
    const char* label;
    const char* css;
};
/// The prediction last, so that it is drawn over the others.
constexpr std::array<Variant, 5> kVariants{{{&ScalePoint::efficiency_without_both, "neither of the two", "v3"},
                                            {&ScalePoint::efficiency_without_detour_delay, "no detour delay", "v1"},
                                            {&ScalePoint::efficiency_without_background, "no background load", "v2"},
                                            {&ScalePoint::efficiency_without_stragglers, "no stragglers", "v4"},
                                            {&ScalePoint::efficiency, "as predicted", "v0"}}};

double tiles_of(const ScalePoint& point) { return point.prediction.tiles; }

/// The points' tiles from left to right, with a margin so that no mark sits on an axis.
SvgScale tiles_scale(const ScalingReport& report) {
    double low = tiles_of(report.points.front());
    double high = low;
    for (const ScalePoint& point : report.points) {
        low = std::min(low, tiles_of(point));
        high = std::max(high, tiles_of(point));
    }
    const double margin = std::pow(high / low, 0.03) * 1.02;
    return {low / margin, high * margin, kLeft, kRight, true};
}

void draw_tiles_axis(Svg& svg, const ScalingReport& report, const SvgScale& x) {
    svg.line({kLeft, kBottom}, {kRight, kBottom}, "axis");
    std::vector<double> ticks;
    for (const ScalePoint& point : report.points) {
        ticks.push_back(tiles_of(point));
    }
    std::sort(ticks.begin(), ticks.end());
    const auto half_width = [](double tiles) { return 4.0 * static_cast<double>(thousands(tiles).size()) + 3; };
    const double last = ticks.back();  // always named; of the others those that have room
    double free_from = 0;
    for (const double tiles : ticks) {
        svg.line({x(tiles), kBottom}, {x(tiles), kBottom + 5}, "axis");
        const bool room =
            x(tiles) - half_width(tiles) >= free_from && x(tiles) + half_width(tiles) <= x(last) - half_width(last);
        if (room || tiles == last) {
            svg.text({x(tiles), kBottom + 21}, thousands(tiles), "tick", "middle");
            free_from = x(tiles) + half_width(tiles);
        }
    }
    svg.text({(kLeft + kRight) / 2, kBottom + 45}, "tiles (each doubling is one equal step)", "name", "middle");
}

void draw_grid_line(Svg& svg, double y, const std::string& text) {
    svg.line({kLeft, y}, {kRight, y}, "grid");
    svg.text({kLeft - 8, y + 4.5}, text, "tick", "end");
}

std::vector<SvgPoint> curve(const ScalingReport& report, const SvgScale& x, const SvgScale& y,
                            double ScalePoint::*value) {
    std::vector<SvgPoint> points;
    for (const ScalePoint& point : report.points) {
        points.push_back({x(tiles_of(point)), y(point.*value)});
    }
    return points;
}

std::array<double, 2> variant_range(const ScalePoint& point) {
    std::array<double, 2> range{point.efficiency, point.efficiency};
    for (const Variant& variant : kVariants) {
        range[0] = std::min(range[0], point.*variant.efficiency);
        range[1] = std::max(range[1], point.*variant.efficiency);
    }
    return range;
}

SvgScale efficiency_scale(const ScalingReport& report) {
    double low = 1, high = 1;
    for (const ScalePoint& point : report.points) {
        const std::array<double, 2> range = variant_range(point);
        low = std::min(low, range[0]);
        high = std::max(high, range[1]);
    }
    low = std::max(0.0, std::floor((low - 0.005) * 20) / 20);
    return {low, high + 0.02 * (high - low) + 0.004, kBottom, kTop};
}

void draw_band(Svg& svg, const ScalingReport& report, const SvgScale& x, const SvgScale& y) {
    std::vector<SvgPoint> outline;
    for (const ScalePoint& point : report.points) {
        outline.push_back({x(tiles_of(point)), y(variant_range(point)[1])});
    }
    for (auto point = report.points.rbegin(); point != report.points.rend(); ++point) {
        outline.push_back({x(tiles_of(*point)), y(variant_range(*point)[0])});
    }
    svg.polygon(outline, "band");
}

SvgScale throughput_scale(const ScalingReport& report) {
    double low = report.points.front().prediction.tokens_per_s;
    double high = low;
    for (const ScalePoint& point : report.points) {
        const predict::Prediction& p = point.prediction;
        low = std::min(low, p.tokens_per_step / p.step_time_interval_s.high);
        high = std::max(high, p.tokens_per_step / p.step_time_interval_s.low);
    }
    const predict::Prediction& first = report.points.front().prediction;
    high = std::max(high, first.tokens_per_s * report.points.back().prediction.tiles / first.tiles);
    low /= 1.15;
    high *= 1.15;
    // Up to the next round value, so that a tick stands above the data.
    const double power = std::pow(10.0, std::floor(std::log10(high)));
    for (const double lead : {2.0, 5.0, 10.0}) {
        if (lead * power >= high) {
            high = lead * power;
            break;
        }
    }
    return {low, high * 1.0001, kBottom, kTop, true};
}

void draw_throughput_points(Svg& svg, const ScalingReport& report, const SvgScale& x, const SvgScale& y) {
    std::vector<SvgPoint> upper, lower, middle;
    for (const ScalePoint& point : report.points) {
        const predict::Prediction& p = point.prediction;
        upper.push_back({x(p.tiles), y(p.tokens_per_step / p.step_time_interval_s.low)});
        lower.push_back({x(p.tiles), y(p.tokens_per_step / p.step_time_interval_s.high)});
        middle.push_back({x(p.tiles), y(p.tokens_per_s)});
    }
    std::vector<SvgPoint> outline = upper;
    outline.insert(outline.end(), lower.rbegin(), lower.rend());
    svg.polygon(outline, "band");
    svg.polyline(middle, "curve v0");
    for (std::size_t i = 0; i < middle.size(); ++i) {
        const predict::Prediction& p = report.points[i].prediction;
        svg.line(upper[i], lower[i], "bar v0");
        svg.line({upper[i].x - 6, upper[i].y}, {upper[i].x + 6, upper[i].y}, "bar v0");
        svg.line({lower[i].x - 6, lower[i].y}, {lower[i].x + 6, lower[i].y}, "bar v0");
        svg.marker(middle[i], 0, "mark v0", thousands(p.tiles) + " tiles: " + thousands(p.tokens_per_s) + " tokens/s");
    }
}

}  // namespace

std::string efficiency_chart(const ScalingReport& report) {
    Svg svg(kWidth, kHeight, "Efficiency against tiles",
            "Predicted efficiency at the last point is " + percent(report.points.back().efficiency));
    const SvgScale x = tiles_scale(report);
    const SvgScale y = efficiency_scale(report);
    const std::vector<double> ticks = round_ticks(y.low, y.high, 7);
    for (const double tick : ticks) {
        if (tick >= y.low - 1e-9 && tick <= y.high) {
            draw_grid_line(svg, y(tick), percent(tick, decimals_of_step(100 * (ticks[1] - ticks[0]))));
        }
    }
    draw_band(svg, report, x, y);
    svg.line({kLeft, y(1)}, {kRight, y(1)}, "ideal");
    draw_tiles_axis(svg, report, x);
    svg.text_upwards({22, (kTop + kBottom) / 2}, "efficiency", "name");
    std::vector<SvgLabel> labels{{y(1), "ideal 100 %", "label", y(1)}};
    for (std::size_t i = 0; i < kVariants.size(); ++i) {
        const Variant& variant = kVariants[i];
        const std::string css = variant.css;
        const std::vector<SvgPoint> points = curve(report, x, y, variant.efficiency);
        svg.polyline(points, "curve " + css);
        for (std::size_t k = 0; k < points.size(); ++k) {
            svg.marker(points[k], (i + 1) % kVariants.size(), "mark " + css,
                       std::string(variant.label) + ", " + thousands(tiles_of(report.points[k])) +
                           " tiles: " + percent(report.points[k].*variant.efficiency));
        }
        const double end = points.back().y;
        labels.push_back({end, std::string(variant.label) + " " + percent(report.points.back().*variant.efficiency),
                          "label " + css, end});
    }
    spread_labels(labels, kLabelGap, kTop, kBottom);
    svg.labels(labels, x(tiles_of(report.points.back())) + 7, kLabelX);
    return std::move(svg).finish();
}

std::string throughput_chart(const ScalingReport& report) {
    const predict::Prediction& first = report.points.front().prediction;
    const predict::Prediction& last = report.points.back().prediction;
    Svg svg(kWidth, kHeight, "Tokens per second against tiles",
            "At the last point " + thousands(last.tokens_per_s) + " tokens per second");
    const SvgScale x = tiles_scale(report);
    const SvgScale y = throughput_scale(report);
    for (const double tick : decade_ticks(y.low, y.high)) {
        draw_grid_line(svg, y(tick), tick_count(tick));
    }
    draw_tiles_axis(svg, report, x);
    svg.text_upwards({18, (kTop + kBottom) / 2}, "tokens per second", "name");
    const double ideal = first.tokens_per_s * last.tiles / first.tiles;
    svg.line({x(first.tiles), y(first.tokens_per_s)}, {x(last.tiles), y(ideal)}, "ideal");
    draw_throughput_points(svg, report, x, y);
    std::vector<SvgLabel> labels;
    if (report.points.size() > 1) {
        labels.push_back({y(ideal), "ideal " + short_count(ideal), "label", y(ideal)});
    }
    labels.push_back(
        {y(last.tokens_per_s), "as predicted " + short_count(last.tokens_per_s), "label v0", y(last.tokens_per_s)});
    spread_labels(labels, kLabelGap, kTop, kBottom);
    svg.labels(labels, x(last.tiles) + 7, kLabelX);
    return std::move(svg).finish();
}

}  // namespace auspex::report
