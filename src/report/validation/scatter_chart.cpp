/// @file Marks around the diagonal.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"
#include "report/validation/validation_charts.hpp"

namespace auspex::report {
namespace {

using evaluate::ValidatedRun;

constexpr PlotWishes kWishes{.left = 76, .names = 236, .top = 14, .height = 430};
constexpr std::size_t kMarkColors = 7;
constexpr double kMargin = 1.25, kBand = 0.1;

std::vector<ScatterGroup> largest_first(const std::map<std::string, ScatterGroup>& groups) {
    std::vector<ScatterGroup> list;
    for (const auto& [name, group] : groups) {
        list.push_back(group);
    }
    std::ranges::stable_sort(list, std::ranges::greater{}, [](const ScatterGroup& one) { return one.runs.size(); });
    return list;
}

/// Both axes, in seconds.
struct Range {
    double low = 0, high = 0;
};

Range range_of(const std::vector<ScatterGroup>& groups) {
    Range range{groups.front().runs.front()->predicted_s, groups.front().runs.front()->predicted_s};
    for (const ScatterGroup& group : groups) {
        for (const ValidatedRun* const one : group.runs) {
            range.low = std::min({range.low, one->predicted_s, one->measured.seconds});
            range.high = std::max({range.high, one->predicted_s, one->measured.seconds});
        }
    }
    return {range.low / kMargin, range.high * kMargin};
}

std::vector<double> ticks_of(const Range& range) {
    constexpr double kManyDecades = 200;
    std::vector<double> ticks = decade_ticks(range.low, range.high);
    if (range.high / range.low > kManyDecades) {
        std::erase_if(ticks, [](double tick) { return std::abs(std::remainder(std::log10(tick), 1)) > 1e-6; });
    }
    return ticks;
}

void draw_axes(Svg& svg, const PlotFrame& frame, const SvgScale& x, const SvgScale& y, const Range& range) {
    const std::vector<double> ticks = ticks_of(range);
    std::vector<std::string> texts;
    for (const double tick : ticks) {
        texts.push_back(tick_count(tick));
        svg.line({x(tick), frame.top}, {x(tick), frame.bottom}, "grid");
    }
    draw_value_axis(svg, frame, y, ticks, texts, "predicted step, s");
    draw_bottom_axis(svg, frame, x, ticks, texts, "measured step, s");
    const double low = range.low, high = range.high, up = 1 + kBand, down = 1 - kBand;
    svg.polygon({{x(low), y(low)},
                 {x(low), y(up * low)},
                 {x(high / up), y(high)},
                 {x(high), y(high)},
                 {x(high), y(down * high)},
                 {x(low / down), y(low)}},
                "band");
    svg.line({x(low), y(low)}, {x(high), y(high)}, "ideal");
}

std::string tooltip_of(const ValidatedRun& one) {
    return one.run.id + " (" + one.machine + ", " + one.stack + "): measured " + duration(one.measured.seconds) +
           ", predicted " + duration(one.predicted_s) + ", " + signed_percent(one.error()) +
           "; 90 %: " + duration(one.low_s) + " to " + duration(one.high_s) + (one.is_fitted ? "; fitted" : "");
}

/// Names stand one below the other, at the right or below the plot.
SvgLabel name_of(const ScatterGroup& group, std::size_t i, const PlotFrame& frame) {
    constexpr double kLine = 21;
    SvgLabel name{frame.top + kLine * (static_cast<double>(i) + 0.5),
                  group.name + " (" + std::to_string(group.runs.size()) + ")", "tick"};
    name.is_led = false;
    name.curve = static_cast<int>(i % kMarkColors);
    name.shape = i;
    return name;
}

}  // namespace

std::vector<ScatterGroup> by_machine(const std::vector<ValidatedRun>& runs) {
    std::map<std::string, ScatterGroup> groups;
    for (const ValidatedRun& one : runs) {
        if (one.why_unmapped.empty()) {
            groups[one.machine].name = one.machine;
            groups[one.machine].runs.push_back(&one);
        }
    }
    return largest_first(groups);
}

std::vector<ScatterGroup> by_source(const ScatterGroup& group) {
    std::map<std::string, ScatterGroup> groups;
    for (const ValidatedRun* const one : group.runs) {
        const std::string name = one->run.source_key.empty() ? one->run.source : one->run.source_key;
        groups[name].name = name;
        groups[name].runs.push_back(one);
    }
    return largest_first(groups);
}

std::string scatter_chart(const std::string& title, const std::vector<ScatterGroup>& groups, bool has_intervals,
                          double width) {
    AUSPEX_CHECK(!groups.empty(), "a scatter has runs");
    const PlotFrame frame = plot_frame(width, kWishes);
    const Range range = range_of(groups);
    const SvgScale x{range.low, range.high, frame.left, frame.right, true};
    const SvgScale y{range.low, range.high, frame.bottom, frame.top, true};
    Svg svg(width, 0, title, "Predicted against measured time of a step; a table below has the numbers");
    draw_axes(svg, frame, x, y, range);
    std::vector<SvgLabel> names;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::string css = "mark v" + std::to_string(i % kMarkColors);
        for (const ValidatedRun* const one : groups[i].runs) {
            const double at = x(one->measured.seconds);
            if (has_intervals) {
                svg.line({at, y(std::clamp(one->low_s, range.low, range.high))},
                         {at, y(std::clamp(one->high_s, range.low, range.high))}, "leader");
            }
            svg.marker({at, y(one->predicted_s)}, i, css, tooltip_of(*one));
        }
        names.push_back(name_of(groups[i], i, frame));
    }
    svg.set_height(draw_names(svg, frame, std::move(names), frame.right));
    return std::move(svg).finish();
}

}  // namespace auspex::report
