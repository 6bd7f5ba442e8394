/// @file A curve of losses.
#include "report/training/loss_chart.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kWidth = 960, kHeight = 420;
constexpr double kLeft = 80, kRight = 920, kTop = 56, kBottom = 360;

std::vector<LossPoint> finite_points(const std::vector<LossPoint>& points) {
    std::vector<LossPoint> drawn;
    std::copy_if(points.begin(), points.end(), std::back_inserter(drawn),
                 [](const LossPoint& point) { return std::isfinite(point.loss); });
    return drawn;
}

void draw_legend(Svg& svg, const std::vector<LossCurve>& curves) {
    constexpr double kLine = 21, kSample = 34, kLegendLeft = 560;
    double y = kTop + kLine;
    for (std::size_t i = 0; i < curves.size(); ++i, y += kLine) {
        svg.line({kLegendLeft, y - 4.5}, {kLegendLeft + kSample, y - 4.5}, "curve v" + std::to_string(i));
        svg.text({kLegendLeft + kSample + 8, y}, curves[i].name, "tick");
    }
}

}  // namespace

std::string training_loss_chart(const std::string& title, const std::vector<LossPoint>& points) {
    return training_loss_chart(title, std::vector<LossCurve>{{"", points}});
}

std::string training_loss_chart(const std::string& title, const std::vector<LossCurve>& curves) {
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
    const SvgScale y{losses.front(), losses.back(), kBottom, kTop};
    const double first = earliest->step, last = std::max(first + 1, static_cast<double>(latest->step));
    const SvgScale x{first, last, kLeft, kRight};
    Svg svg(kWidth, kHeight, title,
            "loss from " + significant(drawn.front().loss, 4) + " to " + significant(drawn.back().loss, 4));
    svg.text({14, 26}, title, "total");
    for (const double tick : losses) {
        svg.line({kLeft, y(tick)}, {kRight, y(tick)}, "grid");
        svg.text({kLeft - 8, y(tick) + 4.5}, fixed(tick, decimals_of_step(losses[1] - losses[0])), "tick", "end");
    }
    for (const double tick : round_ticks(first, last, 8)) {
        if (tick >= first && tick <= last && tick == std::round(tick)) {
            svg.line({x(tick), kBottom}, {x(tick), kBottom + 5}, "axis");
            svg.text({x(tick), kBottom + 21}, thousands(tick), "tick", "middle");
        }
    }
    svg.text({(kLeft + kRight) / 2, kBottom + 44}, "step", "name", "middle");
    svg.text_upwards({22, (kTop + kBottom) / 2}, "loss", "name");
    for (std::size_t i = 0; i < curves.size(); ++i) {
        std::vector<SvgPoint> line;
        for (const LossPoint& point : finite_points(curves[i].points)) {
            line.push_back({x(point.step), y(point.loss)});
        }
        svg.polyline(line, "curve v" + std::to_string(i));
    }
    if (curves.size() > 1) {
        draw_legend(svg, curves);
    }
    return std::move(svg).finish();
}

}  // namespace auspex::report
