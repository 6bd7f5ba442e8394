/// @file The curves against the number of tiles.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/charts.hpp"
#include "report/scaling/story.hpp"

namespace auspex::report {

namespace {

constexpr PlotWishes kWishes{.left = 76, .names = 236, .top = 24, .height = 346};
constexpr int kPublishedCurve = 5;

struct Variant {
    double ScalePoint::*efficiency;
    const char* label;
    int curve;
};
/// The prediction last, so that it is drawn over the others.
constexpr std::array<Variant, 5> kVariants{{{&ScalePoint::efficiency_without_both, "neither of the two", 3},
                                            {&ScalePoint::efficiency_without_detour_delay, "no detour delay", 1},
                                            {&ScalePoint::efficiency_without_background, "no background load", 2},
                                            {&ScalePoint::efficiency_without_stragglers, "no stragglers", 4},
                                            {&ScalePoint::efficiency, "as predicted", 0}}};

double tiles_of(const ScalePoint& point) { return point.prediction.tiles; }

/// The points' tiles from left to right, with a margin so that no mark sits on an axis.
SvgScale tiles_scale(const ScalingReport& report, const PlotFrame& frame) {
    double low = tiles_of(report.points.front());
    double high = low;
    for (const ScalePoint& point : report.points) {
        low = std::min(low, tiles_of(point));
        high = std::max(high, tiles_of(point));
    }
    const double margin = std::pow(high / low, 0.03) * 1.02;
    return {low / margin, high * margin, frame.left, frame.right, true};
}

void draw_tiles_axis(Svg& svg, const ScalingReport& report, const PlotFrame& frame, const SvgScale& x) {
    std::vector<double> ticks;
    for (const ScalePoint& point : report.points) {
        ticks.push_back(tiles_of(point));
    }
    std::sort(ticks.begin(), ticks.end());
    std::vector<std::string> texts;
    std::transform(ticks.begin(), ticks.end(), std::back_inserter(texts), thousands);
    draw_bottom_axis(svg, frame, x, ticks, texts, "tiles (each doubling is one equal step)");
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

SvgScale efficiency_scale(const ScalingReport& report, const PlotFrame& frame) {
    double low = 1, high = 1;
    for (const ScalePoint& point : report.points) {
        const std::array<double, 2> range = variant_range(point);
        low = std::min(low, range[0]);
        high = std::max(high, range[1]);
    }
    for (const PublishedPoint& point : report.published) {
        low = std::min(low, point.efficiency.low);
        high = std::max(high, point.efficiency.high);
    }
    low = std::max(0.0, std::floor((low - 0.005) * 20) / 20);
    return {low, high + 0.02 * (high - low) + 0.004, frame.bottom, frame.top};
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

SvgScale throughput_scale(const ScalingReport& report, const PlotFrame& frame) {
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
    return {low, high * 1.0001, frame.bottom, frame.top, true};
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

/// What others measured: a bar over the range that was published, and a ring, which covers no prediction.
void draw_published(Svg& svg, const ScalingReport& report, const SvgScale& x, const SvgScale& y) {
    constexpr double kCap = 7;
    for (const PublishedPoint& point : report.published) {
        const double at = x(point.tiles), low = y(point.efficiency.low), high = y(point.efficiency.high);
        const std::string text = "published, " + thousands(point.tiles) + " tiles: " + published_text(point);
        if (low - high > 1) {
            svg.line({at, low}, {at, high}, "bar v5");
            svg.line({at - kCap, low}, {at + kCap, low}, "bar v5");
            svg.line({at - kCap, high}, {at + kCap, high}, "bar v5");
        }
        svg.marker({at, (low + high) / 2}, 3, "ring", text);
    }
}

Readout readout_of(const ScalingReport& report, const PlotFrame& frame, const SvgScale& x) {
    Readout readout{frame.top, frame.bottom, {}, {}, {}};
    for (const ScalePoint& point : report.points) {
        readout.x.push_back(x(tiles_of(point)));
        readout.heads.push_back(counted(tiles_of(point), "tile"));
    }
    return readout;
}

Readout efficiency_readout(const ScalingReport& report, const PlotFrame& frame, const SvgScale& x, const SvgScale& y) {
    Readout readout = readout_of(report, frame, x);
    for (auto variant = kVariants.rbegin(); variant != kVariants.rend(); ++variant) {
        Readout::Series series{variant->label, {}, {}};
        for (const ScalePoint& point : report.points) {
            series.y.emplace_back(y(point.*variant->efficiency));
            series.texts.push_back(percent(point.*variant->efficiency));
        }
        readout.series.push_back(std::move(series));
    }
    Readout::Series published{"published", {}, {}};
    for (const ScalePoint& point : report.points) {
        const auto found = std::find_if(report.published.begin(), report.published.end(),
                                        [&](const auto& one) { return one.tiles == point.prediction.tiles; });
        published.y.emplace_back();
        published.texts.push_back(found == report.published.end() ? "" : published_text(*found));
    }
    readout.series.push_back(std::move(published));
    return readout;
}

/// The curves and what was published; returns their names.
std::vector<SvgLabel> draw_variants(Svg& svg, const ScalingReport& report, const PlotFrame& frame, const SvgScale& x,
                                    const SvgScale& y) {
    std::vector<SvgLabel> names;
    if (!frame.names_below) {
        names.push_back({y(1), "ideal 100 %", "label", y(1)});
    }
    for (std::size_t i = 0; i < kVariants.size(); ++i) {
        const Variant& variant = kVariants[i];
        const std::string css = "v" + std::to_string(variant.curve);
        const std::size_t shape = (i + 1) % kVariants.size();
        const std::vector<SvgPoint> points = curve(report, x, y, variant.efficiency);
        svg.polyline(points, "curve " + css);
        for (std::size_t k = 0; k < points.size(); ++k) {
            svg.marker(points[k], shape, "mark " + css,
                       std::string(variant.label) + ", " + thousands(tiles_of(report.points[k])) +
                           " tiles: " + percent(report.points[k].*variant.efficiency));
        }
        const double end = points.back().y;
        SvgLabel name{end, std::string(variant.label) + " " + percent(report.points.back().*variant.efficiency),
                      "label " + css, end};
        name.curve = variant.curve, name.shape = shape;
        names.push_back(std::move(name));
    }
    draw_published(svg, report, x, y);
    if (!report.published.empty()) {
        const PublishedPoint& last = report.published.back();
        const double at = y((last.efficiency.low + last.efficiency.high) / 2);
        SvgLabel name{at, "published " + published_text(last), "label v5", at};
        name.curve = kPublishedCurve, name.shape = 3, name.is_ring = true;
        names.push_back(std::move(name));
    }
    return names;
}

}  // namespace

std::string efficiency_chart(const ScalingReport& report, double width) {
    const PlotFrame frame = plot_frame(width, kWishes);
    Svg svg(width, 0, "Efficiency against tiles",
            "Predicted efficiency at the last point is " + percent(report.points.back().efficiency));
    const SvgScale x = tiles_scale(report, frame), y = efficiency_scale(report, frame);
    const std::vector<double> ticks = round_ticks(y.low, y.high, 7);
    std::vector<std::string> texts;
    for (const double tick : ticks) {
        texts.push_back(percent(tick, decimals_of_step(100 * (ticks[1] - ticks[0]))));
    }
    draw_value_axis(svg, frame, y, ticks, texts, "efficiency");
    draw_band(svg, report, x, y);
    svg.line({frame.left, y(1)}, {frame.right, y(1)}, "ideal");
    draw_tiles_axis(svg, report, frame, x);
    std::vector<SvgLabel> names = draw_variants(svg, report, frame, x, y);
    svg.readout(efficiency_readout(report, frame, x, y));
    svg.set_height(draw_names(svg, frame, std::move(names), x(tiles_of(report.points.back())) + 5));
    return std::move(svg).finish();
}

std::string throughput_chart(const ScalingReport& report, double width) {
    const predict::Prediction& first = report.points.front().prediction;
    const predict::Prediction& last = report.points.back().prediction;
    const PlotFrame frame = plot_frame(width, kWishes);
    Svg svg(width, 0, "Tokens per second against tiles",
            "At the last point " + thousands(last.tokens_per_s) + " tokens per second");
    const SvgScale x = tiles_scale(report, frame), y = throughput_scale(report, frame);
    const std::vector<double> ticks = decade_ticks(y.low, y.high);
    std::vector<std::string> texts;
    std::transform(ticks.begin(), ticks.end(), std::back_inserter(texts), tick_count);
    draw_value_axis(svg, frame, y, ticks, texts, "tokens per second");
    draw_tiles_axis(svg, report, frame, x);
    const double ideal = first.tokens_per_s * last.tiles / first.tiles;
    svg.line({x(first.tiles), y(first.tokens_per_s)}, {x(last.tiles), y(ideal)}, "ideal");
    draw_throughput_points(svg, report, x, y);
    std::vector<SvgLabel> names;
    if (report.points.size() > 1) {
        names.push_back({y(ideal), "dashed: ideal " + short_count(ideal), "label", y(ideal)});
    }
    names.push_back(
        {y(last.tokens_per_s), "as predicted " + short_count(last.tokens_per_s), "label v0", y(last.tokens_per_s)});
    names.back().curve = 0;
    Readout readout = readout_of(report, frame, x);
    readout.series.push_back({"tokens/s", {}, {}});
    for (const ScalePoint& point : report.points) {
        const predict::Prediction& p = point.prediction;
        readout.series.back().y.emplace_back(y(p.tokens_per_s));
        readout.series.back().texts.push_back(short_count(p.tokens_per_s) + " (" +
                                              short_count(p.tokens_per_step / p.step_time_interval_s.high) + " to " +
                                              short_count(p.tokens_per_step / p.step_time_interval_s.low) + ")");
    }
    svg.readout(readout);
    svg.set_height(draw_names(svg, frame, std::move(names), x(last.tiles) + 5));
    return std::move(svg).finish();
}

}  // namespace auspex::report
