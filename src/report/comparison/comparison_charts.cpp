/// @file A scatter plot and bars.
#include "report/comparison/comparison_charts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/error.hpp"
#include "report/comparison/comparison_text.hpp"
#include "report/parts/plot_frame.hpp"
#include "report/parts/row_bars.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr PlotWishes kWishes{.left = 90, .names = 240, .top = 20, .height = 520};
constexpr std::size_t kStyles = 7;

std::vector<std::string> workloads_of(const evaluate::Comparison& comparison) {
    std::vector<std::string> names;
    for (const evaluate::ComparedCase& one : comparison.cases) {
        if (std::find(names.begin(), names.end(), one.workload) == names.end()) {
            names.push_back(one.workload);
        }
    }
    return names;
}

/// Between predictions `share` below and above what is measured. Both axes have the same range.
void draw_band(Svg& svg, const SvgScale& x, const SvgScale& y, double share) {
    const double low = x.low, high = x.high, above = 1 + share, below = 1 - share;
    svg.polygon({{x(low), y(low)},
                 {x(low), y(low * above)},
                 {x(high / above), y(high)},
                 {x(high), y(high)},
                 {x(high), y(high * below)},
                 {x(low / below), y(low)}},
                "band");
}

void draw_axes(Svg& svg, const PlotFrame& frame, const SvgScale& x, const SvgScale& y) {
    const std::vector<double> ticks = decade_ticks(x.low, x.high);
    std::vector<std::string> texts;
    std::transform(ticks.begin(), ticks.end(), std::back_inserter(texts), duration);
    for (const double tick : ticks) {
        svg.line({x(tick), frame.top}, {x(tick), frame.bottom}, "grid");
    }
    draw_value_axis(svg, frame, y, ticks, texts, "predicted");
    draw_bottom_axis(svg, frame, x, ticks, texts, "measured");
    svg.line({frame.left, frame.bottom}, {frame.left, frame.top}, "axis");
}

std::vector<SvgLabel> names_of(const std::vector<std::string>& workloads, const PlotFrame& frame) {
    constexpr double kLine = 24;
    std::vector<SvgLabel> names;
    const auto add = [&](const std::string& text, int curve, const char* css) {
        SvgLabel name{frame.top + kLine * (static_cast<double>(names.size()) + 0.5), text, css};
        name.is_led = false;
        name.curve = curve;
        name.shape = names.size();
        names.push_back(std::move(name));
    };
    for (std::size_t i = 0; i < workloads.size(); ++i) {
        add(workloads[i], static_cast<int>(i % kStyles), "tick");
    }
    add("inner band: 5 %; outer: 12 %", -1, "name");
    return names;
}

}  // namespace

std::string step_scatter(const evaluate::Comparison& comparison, double width) {
    AUSPEX_CHECK(!comparison.cases.empty(), "a scatter plot has points");
    constexpr double kMargin = 1.25;
    double least = comparison.cases.front().measured_step_s, most = least;
    for (const evaluate::ComparedCase& one : comparison.cases) {
        least = std::min({least, one.measured_step_s, one.predicted_step_s});
        most = std::max({most, one.measured_step_s, one.predicted_step_s});
    }
    const PlotFrame frame = plot_frame(width, kWishes);
    const SvgScale x{least / kMargin, most * kMargin, frame.left, frame.right, true};
    const SvgScale y{x.low, x.high, frame.bottom, frame.top, true};
    Svg svg(width, 0, "Predicted against measured step times",
            counted(static_cast<double>(comparison.cases.size()), "layout") + ", median error " +
                percent(comparison.errors.median_abs_error));
    draw_band(svg, x, y, 0.12);
    draw_band(svg, x, y, 0.05);
    draw_axes(svg, frame, x, y);
    svg.line({x(x.low), y(x.low)}, {x(x.high), y(x.high)}, "ideal");
    const std::vector<std::string> workloads = workloads_of(comparison);
    for (const evaluate::ComparedCase& one : comparison.cases) {
        const auto style =
            static_cast<std::size_t>(std::find(workloads.begin(), workloads.end(), one.workload) - workloads.begin());
        svg.marker({x(one.measured_step_s), y(one.predicted_step_s)}, style, "mark v" + std::to_string(style % kStyles),
                   one.plan + " on " + one.workload + ": measured " + duration(one.measured_step_s) + ", predicted " +
                       duration(one.predicted_step_s) + ", " + signed_percent(one.error));
    }
    svg.set_height(draw_names(svg, frame, names_of(workloads, frame), frame.right));
    return std::move(svg).finish();
}

std::string operation_bars(const evaluate::Comparison& comparison, double width) {
    AUSPEX_CHECK(!comparison.operations.empty(), "bars of operations");
    constexpr std::size_t kMax = 24;
    RowBarChart chart{"Time by operation",
                      "measured and predicted, summed over layouts",
                      "seconds, summed over layouts",
                      {},
                      {{0, "measured"}, {2, "predicted"}}};
    chart.text_characters = 8;
    for (std::size_t i = 0; i < std::min(kMax, comparison.operations.size()); ++i) {
        const evaluate::OperationPair& operation = comparison.operations[i];
        const std::string error =
            operation.measured_s > 0 ? signed_percent(operation.predicted_s / operation.measured_s - 1) : "";
        chart.rows.push_back({operation.name,
                              {{0, operation.measured_s, 0, {}, duration(operation.measured_s)},
                               {0, operation.predicted_s, 2, error, duration(operation.predicted_s)}}});
    }
    return row_bar_chart(chart, width);
}

}  // namespace auspex::report
