/// @file Marks around the line where prediction and measurement are equal.
#include "report/calibration/residual_chart.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kWidth = 960, kHeight = 330;
constexpr double kLeft = 70, kRight = 660, kTop = 44, kBottom = 270;
constexpr double kLegendLeft = kRight + 24, kLine = 21;
constexpr double kLow = 0.5, kHigh = 2;

std::string name_of(const fit::FitQuality& fit) {
    return fit.name + (fit.precision.empty() ? "" : ", " + fit.precision);
}

/// Powers of ten; finer ones where fewer than three of them are.
std::vector<double> time_ticks(double low, double high) {
    constexpr std::size_t kMin = 3;
    std::vector<double> ticks;
    for (double tick = std::pow(10, std::ceil(std::log10(low))); tick <= high; tick *= 10) {
        ticks.push_back(tick);
    }
    return ticks.size() < kMin ? decade_ticks(low, high) : ticks;
}

void draw_axes(Svg& svg, const SvgScale& x, const SvgScale& y) {
    for (const double ratio : {0.5, 0.8, 0.95, 1.0, 1.05, 1.25, 2.0}) {
        svg.line({kLeft, y(ratio)}, {kRight, y(ratio)}, ratio == 1.0 ? "axis" : "grid");
        if (ratio != 0.95 && ratio != 1.05) {  // no room beside that of 1
            svg.text({kLeft - 8, y(ratio) + 4.5}, fixed(ratio, 2), "tick", "end");
        }
    }
    for (const double tick : time_ticks(x.low, x.high)) {
        svg.line({x(tick), kBottom}, {x(tick), kBottom + 5}, "axis");
        svg.text({x(tick), kBottom + 21}, duration(tick), "tick", "middle");
    }
    svg.text({(kLeft + kRight) / 2, kBottom + 44}, "measured", "name", "middle");
    svg.text_upwards({18, (kTop + kBottom) / 2}, "predicted / measured", "name");
}

void draw_points(Svg& svg, const fit::FitQuality& fit, std::size_t color, const SvgScale& x, const SvgScale& y) {
    const std::string css = "mark v" + std::to_string(color);
    for (std::size_t i = 0; i < fit.points.size(); ++i) {
        const double seconds = fit.points[i].seconds, ratio = fit.predicted[i] / seconds;
        const std::string tooltip =
            name_of(fit) + ": " + duration(seconds) + ", predicted " + duration(fit.predicted[i]);
        svg.marker({x(seconds), y(std::clamp(ratio, kLow, kHigh))}, color, css, tooltip);
    }
    const double at = kTop + kLine * (static_cast<double>(color) + 1);
    svg.marker({kLegendLeft, at - 4.5}, color, css, "");
    svg.text({kLegendLeft + 14, at}, name_of(fit), "tick");
}

}  // namespace

std::string residual_chart(const std::string& title, std::span<const fit::FitQuality* const> fits) {
    AUSPEX_CHECK(!fits.empty() && fits.size() <= kMaxResiduals, "as many fits as colours");
    double shortest = fits.front()->points.front().seconds, longest = shortest;
    for (const fit::FitQuality* fit : fits) {
        for (const models::Measurement& point : fit->points) {
            shortest = std::min(shortest, point.seconds);
            longest = std::max(longest, point.seconds);
        }
    }
    const SvgScale x{shortest / 1.3, longest * 1.3, kLeft, kRight, true};
    const SvgScale y{kLow, kHigh, kBottom, kTop, true};
    Svg svg(kWidth, kHeight, title,
            "predicted over measured times of " + counted(static_cast<double>(fits.size()), "fit"));
    svg.text({14, 24}, title, "total");
    draw_axes(svg, x, y);
    for (std::size_t i = 0; i < fits.size(); ++i) {
        draw_points(svg, *fits[i], i, x, y);
    }
    return std::move(svg).finish();
}

}  // namespace auspex::report
