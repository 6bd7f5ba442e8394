/// @file The curves of a sweep.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/units.hpp"
#include "report/collective_sweep.hpp"
#include "report/svg.hpp"
#include "report/text.hpp"

namespace auspex {
namespace {

constexpr double kWidth = 860, kPanel = 400;
constexpr double kLeft = 90, kRight = 640, kAbove = 40, kBelow = 60;
constexpr double kLabelX = kRight + 22, kLabelGap = 18;
/// More grid lines than this crowd a panel: then only those at powers of ten.
constexpr std::size_t kMostTicks = 9;

struct Curve {
    std::string label, css;
    std::vector<double> times_s;  ///< by point
};

/// Every algorithm over its fastest number of levels, then what is chosen, which is drawn over them.
std::vector<Curve> curves_of(const CollectiveSweep& sweep) {
    std::vector<CollectiveAlgorithm> algorithms;
    for (const CollectiveTime& time : sweep.points.front().alternatives) {
        if (std::find(algorithms.begin(), algorithms.end(), time.choice.algorithm) == algorithms.end()) {
            algorithms.push_back(time.choice.algorithm);
        }
    }
    std::sort(algorithms.begin(), algorithms.end());
    std::vector<Curve> curves;
    for (const CollectiveAlgorithm algorithm : algorithms) {
        Curve curve{to_string(algorithm), "v" + std::to_string(curves.size() + 1), {}};
        for (const CollectiveResult& point : sweep.points) {
            double least_s = std::numeric_limits<double>::infinity();
            for (const CollectiveTime& time : point.alternatives) {
                least_s = time.choice.algorithm == algorithm ? std::min(least_s, time.time_s) : least_s;
            }
            curve.times_s.push_back(least_s);
        }
        curves.push_back(std::move(curve));
    }
    Curve chosen{"as chosen", "v0", {}};
    for (const CollectiveResult& point : sweep.points) {
        chosen.times_s.push_back(point.time_s);
    }
    curves.push_back(std::move(chosen));
    return curves;
}

/// A panel shows `value(point, time)` of every curve.
using Value = double (*)(const CollectiveResult& point, double time_s);

double time_value(const CollectiveResult& /*point*/, double time_s) { return time_s; }
double bus_value(const CollectiveResult& point, double time_s) { return point.bus_bytes_per_s * point.time_s / time_s; }

SvgScale value_scale(const CollectiveSweep& sweep, const std::vector<Curve>& curves, Value value, double top) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const Curve& curve : curves) {
        for (std::size_t i = 0; i < sweep.points.size(); ++i) {
            low = std::min(low, value(sweep.points[i], curve.times_s[i]));
            high = std::max(high, value(sweep.points[i], curve.times_s[i]));
        }
    }
    return {low / 1.2, high * 1.2, top + kPanel - kBelow, top + kAbove, true};
}

void draw_sizes(Svg& svg, const CollectiveSweep& sweep, const SvgScale& x, double bottom) {
    svg.line({kLeft, bottom}, {kRight, bottom}, "axis");
    double free_from = 0;
    for (const CollectiveResult& point : sweep.points) {
        const double at = x(point.bytes);
        const std::string text = size_text(point.bytes);
        const double half_width = 4.0 * static_cast<double>(text.size()) + 3;
        svg.line({at, bottom}, {at, bottom + 5}, "axis");
        if (at - half_width >= free_from) {
            svg.text({at, bottom + 21}, text, "tick", "middle");
            free_from = at + half_width;
        }
    }
}

std::vector<double> grid_of(const SvgScale& y) {
    std::vector<double> ticks = decade_ticks(y.low, y.high);
    if (ticks.size() > kMostTicks) {
        std::erase_if(ticks, [](double tick) {
            const double decade = std::log10(tick);
            return std::abs(decade - std::round(decade)) > 1e-6;
        });
    }
    return ticks;
}

void draw_panel(Svg& svg, const CollectiveSweep& sweep, const std::vector<Curve>& curves, const SvgScale& x, double top,
                Value value, const char* name, Dimension dimension) {
    const SvgScale y = value_scale(sweep, curves, value, top);
    for (const double tick : grid_of(y)) {
        svg.line({kLeft, y(tick)}, {kRight, y(tick)}, "grid");
        svg.text({kLeft - 8, y(tick) + 4.5}, format_quantity(tick, dimension), "tick", "end");
    }
    draw_sizes(svg, sweep, x, top + kPanel - kBelow);
    svg.text({kLeft, top + 22}, name, "name");
    std::vector<SvgLabel> labels;
    for (std::size_t c = 0; c < curves.size(); ++c) {
        const Curve& curve = curves[c];
        std::vector<SvgPoint> points;
        for (std::size_t i = 0; i < sweep.points.size(); ++i) {
            points.push_back({x(sweep.points[i].bytes), y(value(sweep.points[i], curve.times_s[i]))});
        }
        svg.polyline(points, "curve " + curve.css);
        for (std::size_t i = 0; i < points.size(); ++i) {
            const std::string tooltip = curve.label + ", " + size_text(sweep.points[i].bytes) + ": " +
                                        format_quantity(value(sweep.points[i], curve.times_s[i]), dimension);
            svg.marker(points[i], c, "mark " + curve.css, tooltip);
        }
        labels.push_back({points.back().y, curve.label, "label " + curve.css, points.back().y});
    }
    spread_labels(labels, kLabelGap, top + kAbove, top + kPanel - kBelow);
    svg.labels(labels, x(sweep.points.back().bytes) + 7, kLabelX);
}

}  // namespace

std::string sweep_chart(const CollectiveSweep& sweep) {
    const std::vector<Curve> curves = curves_of(sweep);
    const CollectiveResult& last = sweep.points.back();
    Svg svg(kWidth, 2 * kPanel, title_of(sweep),
            size_text(last.bytes) + " take " + duration(last.time_s) + " by " + choice_text(last.choice));
    const double low = sweep.points.front().bytes, high = std::max(last.bytes, 1.1 * low);
    const double margin = std::pow(high / low, 0.03);
    const SvgScale x{low / margin, high * margin, kLeft, kRight, true};
    draw_panel(svg, sweep, curves, x, 0, time_value, "time against bytes", Dimension::kSeconds);
    draw_panel(svg, sweep, curves, x, kPanel, bus_value, "bus bandwidth against bytes", Dimension::kBytesPerSecond);
    return std::move(svg).finish();
}

}  // namespace auspex
