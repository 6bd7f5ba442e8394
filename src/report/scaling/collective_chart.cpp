/// @file The curves of a sweep.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "base/units.hpp"
#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/collective_sweep.hpp"

namespace auspex::report {
namespace {

constexpr double kHead = 8, kAbove = 34, kRow = 19;
constexpr PlotWishes kWishes{.left = 90, .names = 300, .top = 0, .height = 300, .phone_left = 78};
/// More grid lines than this crowd a panel: then only those at powers of ten.
constexpr std::size_t kMaxTicks = 9;

struct Curve {
    std::string label;
    int style;                                      ///< v0, v1 …
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
Curve curve_of(const CollectiveSweep& sweep, models::CollectiveAlgorithm algorithm, int style) {
    Curve curve{"", style, {}, {}};
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
        curves.push_back(curve_of(sweep, algorithm, static_cast<int>(curves.size()) + 1));
    }
    Curve chosen{"as chosen", 0, {}, {}};
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
        free_from[row] = at + text_width(text.size()) + 12;
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

SvgScale value_scale(const CollectiveSweep& sweep, const std::vector<Curve>& curves, Value value,
                     const PlotFrame& frame) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const Curve& curve : curves) {
        for (std::size_t i = 0; i < sweep.points.size(); ++i) {
            if (std::isfinite(curve.times_s[i])) {
                low = std::min(low, value(sweep.points[i], curve.times_s[i]));
                high = std::max(high, value(sweep.points[i], curve.times_s[i]));
            }
        }
    }
    return {low / 1.2, high * 1.2, frame.bottom, frame.top, true};
}

void draw_sizes(Svg& svg, const CollectiveSweep& sweep, const PlotFrame& frame, const SvgScale& x) {
    std::vector<double> sizes;
    std::vector<std::string> texts;
    for (const network::CollectiveResult& point : sweep.points) {
        sizes.push_back(point.bytes);
        texts.push_back(size_text(point.bytes));
    }
    draw_bottom_axis(svg, frame, x, sizes, texts, "bytes");
}

SvgScale size_scale(const CollectiveSweep& sweep, const PlotFrame& frame) {
    const double low = sweep.points.front().bytes, high = std::max(sweep.points.back().bytes, 1.1 * low);
    const double margin = std::pow(high / low, 0.03);
    return {low / margin, high * margin, frame.left, frame.right, true};
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
    const std::string css = "v" + std::to_string(curve.style);
    svg.polyline(points, "curve " + css);
    for (std::size_t i = 0; i < points.size(); ++i) {
        svg.marker(points[i], shape, "mark " + css, tooltips[i]);
    }
    return points.back();
}

/// Returns where the panel ends.
double draw_panel(Svg& svg, const CollectiveSweep& sweep, const std::vector<Curve>& curves,
                  const std::vector<ChoiceMark>& marks, PlotFrame frame, const Panel& panel) {
    const double height = frame.bottom - frame.top;
    frame.top = panel.top + kAbove + kRow * rows_of(marks);
    frame.bottom = frame.top + height;
    const SvgScale x = size_scale(sweep, frame), y = value_scale(sweep, curves, panel.value, frame);
    const std::vector<double> ticks = grid_of(y);
    std::vector<std::string> texts;
    for (const double tick : ticks) {
        texts.push_back(format_quantity(tick, panel.dimension));
    }
    draw_value_axis(svg, frame, y, ticks, texts, "");
    draw_sizes(svg, sweep, frame, x);
    svg.text({frame.is_phone ? 8 : frame.left, panel.top + 22}, panel.name, "total");
    for (const ChoiceMark& mark : marks) {
        const network::CollectiveResult& point = sweep.points[mark.point];
        const double at = x(point.bytes), text_y = panel.top + kAbove + kRow * (mark.row + 0.6);
        const bool goes_left = at + text_width(mark.text.size()) + 6 > frame.width;
        svg.line({at, text_y - 9}, {at, y(panel.value(point, point.time_s))}, "leader");
        svg.text({at + (goes_left ? -4 : 4), text_y}, mark.text, "label v0", goes_left ? "end" : "start");
    }
    std::vector<SvgLabel> names;
    for (std::size_t c = 0; c < curves.size(); ++c) {
        const SvgPoint end = draw_curve(svg, sweep, curves[c], c, panel, x, y);
        names.push_back({end.y, curves[c].label, "label v" + std::to_string(curves[c].style), end.y});
        names.back().curve = curves[c].style;
        names.back().shape = c;
    }
    return draw_names(svg, frame, std::move(names), x(sweep.points.back().bytes) + 5);
}

}  // namespace

std::string sweep_chart(const CollectiveSweep& sweep, double width) {
    const std::vector<Curve> curves = curves_of(sweep);
    const network::CollectiveResult& last = sweep.points.back();
    const PlotFrame frame = plot_frame(width, kWishes);
    const std::vector<ChoiceMark> marks = choice_marks(sweep, size_scale(sweep, frame));
    Svg svg(width, 0, title_of(sweep),
            size_text(last.bytes) + " take " + duration(last.time_s) + " by " + choice_text(last.choice));
    const double time_end =
        draw_panel(svg, sweep, curves, marks, frame, {"time against bytes", kHead, time_value, Dimension::kSeconds});
    svg.set_height(draw_panel(svg, sweep, curves, marks, frame,
                              {"bus bandwidth against bytes", time_end, bus_value, Dimension::kBytesPerSecond}));
    return std::move(svg).finish();
}

}  // namespace auspex::report
