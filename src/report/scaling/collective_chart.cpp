/// @file The curves of a sweep.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "base/units.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/collective_sweep.hpp"

namespace auspex::report {
namespace {

constexpr double kWidth = 960, kHead = 56, kPlot = 300;
constexpr double kLeft = 90, kRight = 640, kAbove = 34, kBelow = 60;
constexpr double kLabelX = kRight + 22, kLabelGap = 18, kRow = 17, kLetter = 7.6;
/// More grid lines than this crowd a panel: then only those at powers of ten.
constexpr std::size_t kMaxTicks = 9;

struct Curve {
    std::string label, css;
    std::vector<double> times_s;                    ///< by point; infinite where the algorithm was not timed
    std::vector<network::AlgorithmChoice> choices;  ///< of the points where it was timed
};

/// "ring, 2 levels", "ring, 1 or 3 levels": over all points.
std::string label_of(const Curve& curve) {
    std::set<int> levels;
    for (const network::AlgorithmChoice choice : curve.choices) {
        levels.insert(choice.levels);
    }
    std::string text = to_string(curve.choices.front().algorithm);
    for (auto at = levels.begin(); at != levels.end(); ++at) {
        text += (at == levels.begin() ? ", " : std::next(at) == levels.end() ? " or " : ", ") + std::to_string(*at);
    }
    return text + (levels == std::set{1} ? " level" : " levels");
}

/// An algorithm over the number of levels that is fastest at each size.
Curve curve_of(const CollectiveSweep& sweep, models::CollectiveAlgorithm algorithm, std::string css) {
    Curve curve{"", std::move(css), {}, {}};
    for (const network::CollectiveResult& point : sweep.points) {
        network::CollectiveTime best{{algorithm, 0}, std::numeric_limits<double>::infinity()};
        for (const network::CollectiveTime& time : point.alternatives) {
            best = time.choice.algorithm == algorithm && time.time_s < best.time_s ? time : best;
        }
        curve.times_s.push_back(best.time_s);
        if (best.choice.levels > 0) {
            curve.choices.push_back(best.choice);
        }
    }
    curve.label = label_of(curve);
    return curve;
}

/// Every algorithm, then what is chosen, which is drawn over them.
std::vector<Curve> curves_of(const CollectiveSweep& sweep) {
    std::set<models::CollectiveAlgorithm> algorithms;
    for (const network::CollectiveResult& point : sweep.points) {
        for (const network::CollectiveTime& time : point.alternatives) {
            algorithms.insert(time.choice.algorithm);
        }
    }
    std::vector<Curve> curves;
    for (const models::CollectiveAlgorithm algorithm : algorithms) {
        curves.push_back(curve_of(sweep, algorithm, "v" + std::to_string(curves.size() + 1)));
    }
    Curve chosen{"as chosen", "v0", {}, {}};
    for (const network::CollectiveResult& point : sweep.points) {
        chosen.times_s.push_back(point.time_s);
        chosen.choices.push_back(point.choice);
    }
    curves.push_back(std::move(chosen));
    return curves;
}

/// The name of a choice above the plot, with a line down to the first point that has it.
struct ChoiceMark {
    std::size_t point;
    std::string text;
    int row;  ///< counted from the top
};

/// Rows so that no name stands on another, and no line down goes through one.
std::vector<ChoiceMark> choice_marks(const CollectiveSweep& sweep, const SvgScale& x) {
    std::vector<ChoiceMark> marks;
    std::vector<double> free_from;  // by row
    for (std::size_t i = 0; i < sweep.points.size(); ++i) {
        if (i > 0 && sweep.points[i].choice == sweep.points[i - 1].choice) {
            continue;
        }
        const std::string text = choice_text(sweep.points[i].choice);
        const double at = x(sweep.points[i].bytes);
        std::size_t row = free_from.size();
        while (row > 0 && free_from[row - 1] <= at) {
            --row;
        }
        free_from.resize(std::max(free_from.size(), row + 1));
        free_from[row] = at + kLetter * static_cast<double>(text.size()) + 12;
        marks.push_back({i, text, static_cast<int>(row)});
    }
    return marks;
}

int rows_of(const std::vector<ChoiceMark>& marks) {
    int rows = 0;
    for (const ChoiceMark& mark : marks) {
        rows = std::max(rows, mark.row + 1);
    }
    return rows;
}

/// A panel shows `value(point, time)` of every curve.
using Value = double (*)(const network::CollectiveResult& point, double time_s);

double time_value(const network::CollectiveResult& /*point*/, double time_s) { return time_s; }
double bus_value(const network::CollectiveResult& point, double time_s) {
    return point.bus_bytes_per_s * point.time_s / time_s;
}

/// From `bottom` upwards by the height of a plot.
SvgScale value_scale(const CollectiveSweep& sweep, const std::vector<Curve>& curves, Value value, double bottom) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const Curve& curve : curves) {
        for (std::size_t i = 0; i < sweep.points.size(); ++i) {
            if (std::isfinite(curve.times_s[i])) {
                low = std::min(low, value(sweep.points[i], curve.times_s[i]));
                high = std::max(high, value(sweep.points[i], curve.times_s[i]));
            }
        }
    }
    return {low / 1.2, high * 1.2, bottom, bottom - kPlot, true};
}

void draw_sizes(Svg& svg, const CollectiveSweep& sweep, const SvgScale& x, double bottom) {
    svg.line({kLeft, bottom}, {kRight, bottom}, "axis");
    double free_from = 0;
    for (const network::CollectiveResult& point : sweep.points) {
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
    if (ticks.size() > kMaxTicks) {
        std::erase_if(ticks, [](double tick) {
            const double decade = std::log10(tick);
            return std::abs(decade - std::round(decade)) > 1e-6;
        });
    }
    return ticks;
}

struct Panel {
    const char* name;
    double top;
    Value value;
    Dimension dimension;
};

/// The line and its marks. Returns where the line ends.
SvgPoint draw_curve(Svg& svg, const CollectiveSweep& sweep, const Curve& curve, std::size_t shape, const Panel& panel,
                    const SvgScale& x, const SvgScale& y) {
    std::vector<SvgPoint> points;
    std::vector<std::string> tooltips;
    std::size_t timed = 0;
    for (std::size_t i = 0; i < sweep.points.size(); ++i) {
        if (std::isfinite(curve.times_s[i])) {
            const double value = panel.value(sweep.points[i], curve.times_s[i]);
            points.push_back({x(sweep.points[i].bytes), y(value)});
            tooltips.push_back(choice_text(curve.choices[timed++]) + ", " + size_text(sweep.points[i].bytes) + ": " +
                               format_quantity(value, panel.dimension));
        }
    }
    svg.polyline(points, "curve " + curve.css);
    for (std::size_t i = 0; i < points.size(); ++i) {
        svg.marker(points[i], shape, "mark " + curve.css, tooltips[i]);
    }
    return points.back();
}

void draw_panel(Svg& svg, const CollectiveSweep& sweep, const std::vector<Curve>& curves,
                const std::vector<ChoiceMark>& marks, const SvgScale& x, const Panel& panel) {
    const double plot = panel.top + kAbove + kRow * rows_of(marks), bottom = plot + kPlot;
    const SvgScale y = value_scale(sweep, curves, panel.value, bottom);
    for (const double tick : grid_of(y)) {
        svg.line({kLeft, y(tick)}, {kRight, y(tick)}, "grid");
        svg.text({kLeft - 8, y(tick) + 4.5}, format_quantity(tick, panel.dimension), "tick", "end");
    }
    draw_sizes(svg, sweep, x, bottom);
    svg.text({kLeft, panel.top + 22}, panel.name, "name");
    for (const ChoiceMark& mark : marks) {
        const network::CollectiveResult& point = sweep.points[mark.point];
        const double at = x(point.bytes), text_y = panel.top + kAbove + kRow * (mark.row + 0.6);
        svg.line({at, text_y - 9}, {at, y(panel.value(point, point.time_s))}, "leader");
        svg.text({at + 4, text_y}, mark.text, "label v0");
    }
    std::vector<SvgLabel> labels;
    for (std::size_t c = 0; c < curves.size(); ++c) {
        const SvgPoint end = draw_curve(svg, sweep, curves[c], c, panel, x, y);
        labels.push_back({end.y, curves[c].label, "label " + curves[c].css, end.y});
    }
    spread_labels(labels, kLabelGap, plot, bottom);
    svg.labels(labels, x(sweep.points.back().bytes) + 7, kLabelX);
}

}  // namespace

std::string sweep_chart(const CollectiveSweep& sweep) {
    const std::vector<Curve> curves = curves_of(sweep);
    const network::CollectiveResult& last = sweep.points.back();
    const double low = sweep.points.front().bytes, high = std::max(last.bytes, 1.1 * low);
    const double margin = std::pow(high / low, 0.03);
    const SvgScale x{low / margin, high * margin, kLeft, kRight, true};
    const std::vector<ChoiceMark> marks = choice_marks(sweep, x);
    const double panel = kAbove + kRow * rows_of(marks) + kPlot + kBelow;
    Svg svg(kWidth, kHead + 2 * panel, title_of(sweep),
            size_text(last.bytes) + " take " + duration(last.time_s) + " by " + choice_text(last.choice));
    svg.text({14, 24}, job_text(sweep), "total");
    svg.text({14, 44}, system_text(sweep), "tick");
    draw_panel(svg, sweep, curves, marks, x, {"time against bytes", kHead, time_value, Dimension::kSeconds});
    draw_panel(svg, sweep, curves, marks, x,
               {"bus bandwidth against bytes", kHead + panel, bus_value, Dimension::kBytesPerSecond});
    return std::move(svg).finish();
}

}  // namespace auspex::report
