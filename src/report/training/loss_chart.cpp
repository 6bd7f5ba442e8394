/// @file A curve of losses.
#include "report/training/loss_chart.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.hpp"
#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr PlotWishes kWishes{.left = 80, .names = 260, .top = 20, .height = 320};
constexpr std::size_t kMostRead = 300;  // points that a crosshair can stand at

std::vector<LossPoint> finite_points(const std::vector<LossPoint>& points) {
    std::vector<LossPoint> drawn;
    std::copy_if(points.begin(), points.end(), std::back_inserter(drawn),
                 [](const LossPoint& point) { return std::isfinite(point.loss); });
    return drawn;
}

void draw_curves(Svg& svg, const std::vector<LossCurve>& curves, const SvgScale& x, const SvgScale& y) {
    for (std::size_t i = 0; i < curves.size(); ++i) {
        std::vector<SvgPoint> line;
        for (const LossPoint& point : finite_points(curves[i].points)) {
            line.push_back({x(point.step), y(point.loss)});
        }
        svg.polyline(line, "curve v" + std::to_string(i));
    }
}

/// At the steps of the first curve, or, where they are many, at every n-th of them.
Readout readout_of(const std::vector<LossCurve>& curves, const PlotFrame& frame, const SvgScale& x, const SvgScale& y) {
    Readout readout{frame.top, frame.bottom, {}, {}, {}};
    const std::vector<LossPoint>& steps = curves.front().points;
    const std::size_t every = steps.size() / kMostRead + 1;
    for (const LossCurve& curve : curves) {
        readout.series.push_back({curve.name, {}, {}});
    }
    for (std::size_t i = 0; i < steps.size(); i += every) {
        readout.x.push_back(x(steps[i].step));
        readout.heads.push_back("step " + thousands(steps[i].step));
        for (std::size_t c = 0; c < curves.size(); ++c) {
            const auto found = std::ranges::find(curves[c].points, steps[i].step, &LossPoint::step);
            const bool is_there = found != curves[c].points.end() && std::isfinite(found->loss);
            readout.series[c].y.push_back(is_there ? std::optional(y(found->loss)) : std::nullopt);
            readout.series[c].texts.push_back(is_there ? significant(found->loss, 5) : "");
        }
    }
    return readout;
}

std::vector<SvgLabel> names_of(const std::vector<LossCurve>& curves, const SvgScale& y) {
    std::vector<SvgLabel> names;
    for (std::size_t i = 0; curves.size() > 1 && i < curves.size(); ++i) {
        const std::vector<LossPoint> points = finite_points(curves[i].points);
        const double end = points.empty() ? y(y.low) : y(points.back().loss);
        names.push_back({end, curves[i].name, "label v" + std::to_string(i), end});
        names.back().curve = static_cast<int>(i);
        names.back().shape = i;
    }
    return names;
}

}  // namespace

std::string training_loss_chart(const std::string& title, const std::vector<LossPoint>& points, double width) {
    return training_loss_chart(title, std::vector<LossCurve>{{"", points}}, width);
}

std::string training_loss_chart(const std::string& title, const std::vector<LossCurve>& curves, double width) {
    constexpr std::size_t kStyles = 7;
    AUSPEX_CHECK(curves.size() <= kStyles, "as many curves as styles");
    std::vector<LossPoint> drawn;
    for (const LossCurve& curve : curves) {
        const std::vector<LossPoint> points = finite_points(curve.points);
        drawn.insert(drawn.end(), points.begin(), points.end());
    }
    AUSPEX_CHECK(!drawn.empty(), "a curve has a point");
    const auto [least, most] =
        std::minmax_element(drawn.begin(), drawn.end(), [](const auto& a, const auto& b) { return a.loss < b.loss; });
    const auto [earliest, latest] =
        std::minmax_element(drawn.begin(), drawn.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
    const std::vector<double> losses = round_ticks(least->loss, std::max(most->loss, least->loss + 1e-3), 6);
    PlotWishes wishes = kWishes;
    wishes.names = curves.size() > 1 ? wishes.names : 0;
    const PlotFrame frame = plot_frame(width, wishes);
    const SvgScale y{losses.front(), losses.back(), frame.bottom, frame.top};
    const double first = earliest->step, last = std::max(first + 1, static_cast<double>(latest->step));
    const SvgScale x{first, last, frame.left, frame.right};
    Svg svg(width, 0, title,
            "loss from " + significant(drawn.front().loss, 4) + " to " + significant(drawn.back().loss, 4));
    std::vector<std::string> texts, step_texts;
    for (const double tick : losses) {
        texts.push_back(fixed(tick, decimals_of_step(losses[1] - losses[0])));
    }
    draw_value_axis(svg, frame, y, losses, texts, "loss");
    std::vector<double> steps = round_ticks(first, last, 8);
    std::erase_if(steps, [&](double tick) { return tick < first || tick > last || tick != std::round(tick); });
    std::transform(steps.begin(), steps.end(), std::back_inserter(step_texts), thousands);
    draw_bottom_axis(svg, frame, x, steps, step_texts, "step");
    draw_curves(svg, curves, x, y);
    svg.readout(readout_of(curves, frame, x, y));
    svg.set_height(draw_names(svg, frame, names_of(curves, y), x(last)));
    return std::move(svg).finish();
}

}  // namespace auspex::report
