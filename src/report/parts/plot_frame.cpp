/// @file Frames of plots.
#include "report/parts/plot_frame.hpp"

#include <algorithm>

#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kNameGap = 18, kNameLine = 21, kSample = 22;

/// A square, or a piece of the curve with its mark; nothing for a name without a colour.
double draw_sample(Svg& svg, const SvgLabel& name, double x, double y) {
    if (name.curve >= 0) {
        const std::string css = "v" + std::to_string(name.curve);
        if (name.is_led && !name.is_ring) {
            svg.line({x, y - 4.5}, {x + kSample, y - 4.5}, "curve " + css);
        }
        svg.marker({x + kSample / 2, y - 4.5}, name.shape, name.is_ring ? "ring" : "mark " + css, {});
        return kSample + 6;
    }
    if (name.swatch >= 0) {
        svg.rect({x, y - 10}, 11, 11, "l" + std::to_string(name.swatch), {});
        return 17;
    }
    return 0;
}

}  // namespace

double text_width(std::size_t characters) { return 7.4 * static_cast<double>(characters); }

PlotFrame plot_frame(double width, const PlotWishes& wishes) {
    constexpr double kPhoneHeight = 260, kMargin = 16;
    PlotFrame frame;
    frame.width = width;
    frame.names_below = width < kPagePicture;
    frame.is_phone = width <= kPhonePicture;
    frame.left = frame.is_phone ? std::min(wishes.left, wishes.phone_left) : wishes.left;
    frame.right = width - (frame.names_below ? kMargin : std::max(wishes.names, kMargin));
    frame.top = wishes.top;
    frame.bottom = frame.top + (frame.is_phone ? std::min(wishes.height, kPhoneHeight) : wishes.height);
    return frame;
}

void draw_value_axis(Svg& svg, const PlotFrame& frame, const SvgScale& y, const std::vector<double>& ticks,
                     const std::vector<std::string>& texts, std::string_view name) {
    constexpr double kRounding = 1e-9;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
        if (ticks[i] >= y.low - kRounding && ticks[i] <= y.high * (1 + kRounding)) {
            svg.line({frame.left, y(ticks[i])}, {frame.right, y(ticks[i])}, "grid");
            svg.text({frame.left - 8, y(ticks[i]) + 4.5}, texts[i], "tick", "end");
        }
    }
    svg.text_upwards({14, (frame.top + frame.bottom) / 2}, name, "name");
}

void draw_bottom_axis(Svg& svg, const PlotFrame& frame, const SvgScale& x, const std::vector<double>& ticks,
                      const std::vector<std::string>& texts, std::string_view name) {
    svg.line({frame.left, frame.bottom}, {frame.right, frame.bottom}, "axis");
    const auto half_width = [&](std::size_t i) { return text_width(texts[i].size()) / 2 + 4; };
    double free_from = 0;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
        const double at = x(ticks[i]), last_begin = x(ticks.back()) - half_width(ticks.size() - 1);
        svg.line({at, frame.bottom}, {at, frame.bottom + 5}, "axis");
        const bool is_last = i + 1 == ticks.size();
        if (is_last || (at - half_width(i) >= free_from && at + half_width(i) <= last_begin)) {
            const double most = frame.width - half_width(i) + 3;  // the whole text stands in the picture
            svg.text({std::min(at, most), frame.bottom + 21}, texts[i], "tick", "middle");
            free_from = at + half_width(i);
        }
    }
    svg.text({(frame.left + frame.right) / 2, frame.bottom + 44}, name, "name", "middle");
}

double draw_names(Svg& svg, const PlotFrame& frame, std::vector<SvgLabel> names, double end_x) {
    if (!frame.names_below) {
        constexpr double kLabelGap = 20;
        spread_labels(names, kNameGap, frame.top, frame.bottom - 4);
        svg.labels(names, end_x + 2, frame.right + kLabelGap);
        return frame.bottom + kBelowAxis;
    }
    const double left = frame.is_phone ? 8 : frame.left, right = frame.width - 8;
    double x = left, y = frame.bottom + kBelowAxis;
    for (const SvgLabel& name : names) {
        constexpr double kBold = 1.1;  // the main curve's name is
        const double wide = (name.curve >= 0    ? kSample + 6
                             : name.swatch >= 0 ? 17
                                                : 0) +
                            kBold * text_width(name.text.size());
        if (x > left && x + wide > right) {
            x = left;
            y += kNameLine;
        }
        const double sample = draw_sample(svg, name, x, y);
        svg.text({x + sample, y}, name.text, name.css);
        x += wide + 18;
    }
    return y + 10;
}

}  // namespace auspex::report
