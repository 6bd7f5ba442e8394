/// @file A scatter plot and bars.
#include "report/comparison/comparison_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "report/comparison/comparison_text.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kSide = 520, kLeft = 90, kTop = 24;
constexpr double kRight = kLeft + kSide, kBottom = kTop + kSide;
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

void draw_axes(Svg& svg, const SvgScale& x, const SvgScale& y) {
    for (const double tick : decade_ticks(x.low, x.high)) {
        svg.line({x(tick), kTop}, {x(tick), kBottom}, "grid");
        svg.line({kLeft, y(tick)}, {kRight, y(tick)}, "grid");
        svg.text({x(tick), kBottom + 20}, duration(tick), "tick", "middle");
        svg.text({kLeft - 8, y(tick) + 4.5}, duration(tick), "tick", "end");
    }
    svg.line({kLeft, kBottom}, {kRight, kBottom}, "axis");
    svg.line({kLeft, kTop}, {kLeft, kBottom}, "axis");
    svg.text({(kLeft + kRight) / 2, kBottom + 44}, "measured", "name", "middle");
    svg.text_upwards({20, (kTop + kBottom) / 2}, "predicted", "name");
}

void draw_legend(Svg& svg, const std::vector<std::string>& workloads) {
    constexpr double kX = kRight + 30, kLine = 24;
    double y = kTop + 20;
    for (std::size_t i = 0; i < workloads.size(); ++i, y += kLine) {
        svg.marker({kX, y - 4.5}, i, "mark v" + std::to_string(i % kStyles), {});
        svg.text({kX + 14, y}, workloads[i], "tick");
    }
    svg.text({kX - 6, y + 10}, "inner band: 5 %; outer: 12 %", "name");
}

}  // namespace

std::string step_scatter(const evaluate::Comparison& comparison) {
    AUSPEX_CHECK(!comparison.cases.empty(), "a scatter plot has points");
    constexpr double kWidth = 860, kHeight = kBottom + 60, kMargin = 1.25;
    double least = comparison.cases.front().measured_step_s, most = least;
    for (const evaluate::ComparedCase& one : comparison.cases) {
        least = std::min({least, one.measured_step_s, one.predicted_step_s});
        most = std::max({most, one.measured_step_s, one.predicted_step_s});
    }
    const SvgScale x{least / kMargin, most * kMargin, kLeft, kRight, true};
    const SvgScale y{x.low, x.high, kBottom, kTop, true};
    Svg svg(kWidth, kHeight, "Predicted against measured step times",
            counted(static_cast<double>(comparison.cases.size()), "layout") + ", median error " +
                percent(comparison.errors.median_abs_error));
    draw_band(svg, x, y, 0.12);
    draw_band(svg, x, y, 0.05);
    draw_axes(svg, x, y);
    svg.line({x(x.low), y(x.low)}, {x(x.high), y(x.high)}, "ideal");
    const std::vector<std::string> workloads = workloads_of(comparison);
    for (const evaluate::ComparedCase& one : comparison.cases) {
        const auto style =
            static_cast<std::size_t>(std::find(workloads.begin(), workloads.end(), one.workload) - workloads.begin());
        svg.marker({x(one.measured_step_s), y(one.predicted_step_s)}, style, "mark v" + std::to_string(style % kStyles),
                   one.plan + " on " + one.workload + ": measured " + duration(one.measured_step_s) + ", predicted " +
                       duration(one.predicted_step_s) + ", " + signed_percent(one.error));
    }
    draw_legend(svg, workloads);
    return std::move(svg).finish();
}

std::string operation_bars(const evaluate::Comparison& comparison) {
    AUSPEX_CHECK(!comparison.operations.empty(), "bars of operations");
    constexpr std::size_t kMax = 24;
    constexpr double kWidth = 860, kEnd = 740, kRow = 26, kBar = 9, kHead = 34;
    constexpr double kCharacter = 8, kGap = 16;  // of a name, which is not cut; beside it
    const std::size_t count = std::min(kMax, comparison.operations.size());
    double longest = 0;
    for (const evaluate::OperationPair& operation : comparison.operations) {
        longest = std::max({longest, operation.measured_s, operation.predicted_s});
    }
    std::size_t characters = 0;
    for (std::size_t i = 0; i < count; ++i) {
        characters = std::max(characters, comparison.operations[i].name.size());
    }
    const double names = kCharacter * static_cast<double>(characters) + kGap;
    const SvgScale x{0, longest, names, kEnd};
    Svg svg(kWidth, kHead + kRow * static_cast<double>(count) + 10, "Time by operation",
            "measured and predicted, summed over layouts");
    svg.rect({names, 8}, 11, 11, "l0", {});
    svg.text({names + 17, 18}, "measured", "tick");
    svg.rect({names + 100, 8}, 11, 11, "l2", {});
    svg.text({names + 117, 18}, "predicted", "tick");
    double y = kHead;
    for (std::size_t i = 0; i < count; ++i, y += kRow) {
        const evaluate::OperationPair& operation = comparison.operations[i];
        svg.text({names - 8, y + kBar + 4.5}, operation.name, "tick", "end");
        svg.rect({names, y}, x(operation.measured_s) - names, kBar, "l0", duration(operation.measured_s));
        svg.rect({names, y + kBar}, x(operation.predicted_s) - names, kBar, "l2", duration(operation.predicted_s));
        if (operation.measured_s > 0) {
            svg.text({std::max(x(operation.measured_s), x(operation.predicted_s)) + 8, y + kBar + 4.5},
                     signed_percent(operation.predicted_s / operation.measured_s - 1), "tick");
        }
    }
    return std::move(svg).finish();
}

}  // namespace auspex::report
