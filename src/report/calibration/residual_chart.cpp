/// @file Marks around the line where prediction and measurement are equal.
#include "report/calibration/residual_chart.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr PlotWishes kWishes{.left = 70, .names = 280, .top = 14, .height = 230};
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

void draw_axes(Svg& svg, const PlotFrame& frame, const SvgScale& x, const SvgScale& y) {
    for (const double ratio : {0.5, 0.8, 0.95, 1.0, 1.05, 1.25, 2.0}) {
        svg.line({frame.left, y(ratio)}, {frame.right, y(ratio)}, ratio == 1.0 ? "axis" : "grid");
        if (ratio != 0.95 && ratio != 1.05) {  // no room beside that of 1
            svg.text({frame.left - 8, y(ratio) + 4.5}, fixed(ratio, 2), "tick", "end");
        }
    }
    svg.text_upwards({14, (frame.top + frame.bottom) / 2}, "predicted / measured", "name");
    const std::vector<double> ticks = time_ticks(x.low, x.high);
    std::vector<std::string> texts;
    std::transform(ticks.begin(), ticks.end(), std::back_inserter(texts), duration);
    draw_bottom_axis(svg, frame, x, ticks, texts, "measured");
}

void draw_points(Svg& svg, const fit::FitQuality& fit, std::size_t color, const SvgScale& x, const SvgScale& y) {
    const std::string css = "mark v" + std::to_string(color);
    for (std::size_t i = 0; i < fit.points.size(); ++i) {
        const double seconds = fit.points[i].seconds, ratio = fit.predicted[i] / seconds;
        const std::string tooltip =
            name_of(fit) + ": " + duration(seconds) + ", predicted " + duration(fit.predicted[i]);
        svg.marker({x(seconds), y(std::clamp(ratio, kLow, kHigh))}, color, css, tooltip);
    }
}

/// Marks have no ends: names stand one below the other at the right, or below.
std::vector<SvgLabel> names_of(std::span<const fit::FitQuality* const> fits, const PlotFrame& frame) {
    constexpr double kLine = 21;
    std::vector<SvgLabel> names;
    for (std::size_t i = 0; i < fits.size(); ++i) {
        SvgLabel name{frame.top + kLine * (static_cast<double>(i) + 0.5), name_of(*fits[i]), "tick"};
        name.is_led = false;
        name.curve = static_cast<int>(i);
        name.shape = i;
        names.push_back(std::move(name));
    }
    return names;
}

}  // namespace

std::string residual_chart(const std::string& title, std::span<const fit::FitQuality* const> fits, double width) {
    AUSPEX_CHECK(!fits.empty() && fits.size() <= kMaxResiduals, "as many fits as colours");
    double shortest = fits.front()->points.front().seconds, longest = shortest;
    for (const fit::FitQuality* fit : fits) {
        for (const models::Measurement& point : fit->points) {
            shortest = std::min(shortest, point.seconds);
            longest = std::max(longest, point.seconds);
        }
    }
    const PlotFrame frame = plot_frame(width, kWishes);
    const SvgScale x{shortest / 1.3, longest * 1.3, frame.left, frame.right, true};
    const SvgScale y{kLow, kHigh, frame.bottom, frame.top, true};
    Svg svg(width, 0, title, "predicted over measured times of " + counted(static_cast<double>(fits.size()), "fit"));
    draw_axes(svg, frame, x, y);
    for (std::size_t i = 0; i < fits.size(); ++i) {
        draw_points(svg, *fits[i], i, x, y);
    }
    svg.set_height(draw_names(svg, frame, names_of(fits, frame), frame.right));
    return std::move(svg).finish();
}

}  // namespace auspex::report
