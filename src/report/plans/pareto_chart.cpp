/// @file Step time against memory.
#include <algorithm>
#include <cmath>
#include <set>

#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"
#include "report/plans/plan_page.hpp"

namespace auspex::report {
namespace {

constexpr PlotWishes kWishes{.left = 66, .names = 0, .top = 30, .height = 350};
constexpr double kMost = 4;  // times the best step: slower plans are left out
constexpr double kCell = 4;  // of the cloud, in pixels: one dot each

struct Frame {
    PlotFrame plot;
    SvgScale x, y;
    [[nodiscard]] SvgPoint at(double step_s, double bytes) const { return {x(step_s), y(bytes / 1e9)}; }
    [[nodiscard]] SvgPoint at(const search::EvaluatedPlan& plan) const {
        return at(to_seconds(plan.step), plan.memory_peak_bytes);
    }
};

Frame frame_of(const PlanPage& page, double width) {
    const double best_s = page.ranked.front().prediction.step_time_s;
    double low_s = best_s, high_s = best_s * 1.1, top = page.result.capacity_bytes;
    const auto reach = [&](double step_s, double bytes) {
        low_s = std::min(low_s, step_s);
        high_s = std::max(high_s, std::min(step_s, best_s * kMost));
        top = std::max(top, bytes);
    };
    for (const PlanRow& row : page.rows) {
        reach(row.step_time_s, row.memory_peak_bytes);
    }
    for (const search::ShutOut& one : page.shut_out.fastest) {
        reach(to_seconds(one.plan.step), one.plan.memory_peak_bytes);
    }
    const PlotFrame plot = plot_frame(width, kWishes);
    return {
        plot, {low_s * 0.97, high_s * 1.03, plot.left, plot.right, true}, {0, top / 1e9 * 1.06, plot.bottom, plot.top}};
}

void draw_axes(Svg& svg, const Frame& frame) {
    const PlotFrame& plot = frame.plot;
    const std::vector<double> ticks = round_ticks(0, frame.y.high, 6);
    std::vector<std::string> texts;
    for (const double tick : ticks) {
        texts.push_back(fixed(tick, decimals_of_step(ticks[1] - ticks[0])));
    }
    draw_value_axis(svg, plot, frame.y, ticks, texts, "GB of the fullest tile");
    const std::vector<double> steps = decade_ticks(frame.x.low, frame.x.high);
    std::vector<std::string> step_texts;
    for (const double step : steps) {
        svg.line({frame.x(step), plot.top}, {frame.x(step), plot.bottom}, "grid");
        step_texts.push_back(significant(step));
    }
    draw_bottom_axis(svg, plot, frame.x, steps, step_texts, "seconds of a step (logarithmic)");
}

void draw_cloud(Svg& svg, const PlanPage& page, const Frame& frame) {
    std::set<std::pair<int, int>> cells;
    std::vector<SvgPoint> dots;
    for (const search::EvaluatedPlan& plan : page.result.played) {
        const SvgPoint at = frame.at(plan);
        const std::pair cell{static_cast<int>(at.x / kCell), static_cast<int>(at.y / kCell)};
        if (at.x <= frame.plot.right && cells.insert(cell).second) {
            dots.push_back({(cell.first + 0.5) * kCell, (cell.second + 0.5) * kCell});
        }
    }
    svg.dots(dots, "dots");
}

/// Stairs: with a plan's memory, its step and any longer one are to be had.
void draw_front(Svg& svg, const PlanPage& page, const Frame& frame) {
    std::vector<SvgPoint> stairs;
    for (const search::EvaluatedPlan& plan : page.result.pareto) {
        const SvgPoint at = frame.at(plan);
        if (at.x > frame.plot.right) {
            break;
        }
        if (!stairs.empty()) {
            stairs.push_back({at.x, stairs.back().y});
        }
        stairs.push_back(at);
    }
    if (stairs.empty()) {
        return;
    }
    stairs.push_back({frame.plot.right, stairs.back().y});
    svg.polyline(stairs, "front");
    for (const search::EvaluatedPlan& plan : page.result.pareto) {
        if (frame.at(plan).x <= frame.plot.right) {
            svg.marker(frame.at(plan), 0, "mark v0",
                       duration(to_seconds(plan.step)) + ", " + significant(plan.memory_peak_bytes / 1e9) + " GB");
        }
    }
}

}  // namespace

std::string pareto_chart(const PlanPage& page, double width) {
    const Frame frame = frame_of(page, width);
    const double capacity_gb = page.result.capacity_bytes / 1e9;
    Svg svg(width, frame.plot.bottom + 60, "Step time against memory",
            "Plans that were simulated; the table has the numbers");
    draw_axes(svg, frame);
    draw_cloud(svg, page, frame);
    draw_front(svg, page, frame);
    svg.line({frame.plot.left, frame.y(capacity_gb)}, {frame.plot.right, frame.y(capacity_gb)}, "limit");
    svg.text({frame.plot.right, frame.y(capacity_gb) - 7}, "a tile has " + significant(capacity_gb) + " GB",
             "limit-text", "end");
    for (const search::ShutOut& one : page.shut_out.fastest) {
        svg.marker(frame.at(one.plan), 4, "mark v1",
                   "too large: " + duration(to_seconds(one.plan.step)) + ", " +
                       significant(one.plan.memory_peak_bytes / 1e9) + " GB");
    }
    const search::EvaluatedPlan& best = page.ranked.front().evaluated;
    svg.text({frame.at(best).x + 8, frame.at(best).y - 8}, "the best", "label v0");
    if (page.given && page.given->why_not.empty()) {
        const SvgPoint at = frame.at(page.given->ranked.evaluated);
        if (at.x <= frame.plot.right) {
            svg.marker(at, 3, "given-mark", "the plan of --plan");
            svg.text({at.x + 8, at.y - 8}, "--plan", "limit-text");
        }
    }
    return std::move(svg).finish();
}

}  // namespace auspex::report
