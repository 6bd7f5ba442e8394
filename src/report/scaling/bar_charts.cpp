/// @file The stacked bars: where a step goes, and what fills the memory.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/charts.hpp"
#include "report/scaling/placement_report.hpp"
#include "report/scaling/story.hpp"

namespace auspex::report {

namespace {

/// Beyond this ratio of longest to shortest bar the short ones could not be read: all are drawn as shares.
constexpr double kReadableRatio = 4;
constexpr double kTextHeight = 14;
static_assert(kColorCount >= schedule::kLossCount, "a colour for each loss");

struct Segment {
    double value = 0;
    std::size_t color = 0;
    std::string inside, tooltip;  ///< inside: shown where there is room
};

struct Bar {
    std::string name, total;
    std::vector<Segment> segments;
};

struct BarChart {
    std::string axis_name, value_name;
    std::vector<Bar> bars;
    std::vector<std::string> names;  ///< by color: written beside the last bar
    double top = 1;                  ///< of the value axis
    double limit = 0;                ///< drawn as a line across, unless 0
    std::string limit_name{};
};

double slot_of(const BarChart& chart, const PlotFrame& frame) {
    return (frame.right - frame.left) / static_cast<double>(chart.bars.size());
}

/// Draws the bar and says where each color's segment has its middle, -1 where there is none.
std::vector<double> draw_bar(Svg& svg, const Bar& bar, double center, double width, const SvgScale& y) {
    std::vector<double> middles(kColorCount, -1);
    double below = 0;
    for (const Segment& segment : bar.segments) {
        const double top = y(below + segment.value);
        const double height = y(below) - top;
        below += segment.value;
        if (height <= 0) {
            continue;
        }
        const std::string color = std::to_string(segment.color);
        svg.rect({center - width / 2, top}, width, height, "segment l" + color, segment.tooltip);
        middles[segment.color] = top + height / 2;
        if (height >= kTextHeight && width >= 8.0 * static_cast<double>(segment.inside.size())) {
            svg.text({center, top + height / 2 + 4.5}, segment.inside, "inside t" + color, "middle");
        }
    }
    svg.text({center, y(below) - 7}, bar.total, "total", "middle");
    return middles;
}

void draw_axes(Svg& svg, const BarChart& chart, const PlotFrame& frame, const SvgScale& y) {
    const std::vector<double> ticks = round_ticks(0, chart.top, 6);
    std::vector<std::string> texts;
    for (const double tick : ticks) {
        texts.push_back(fixed(tick, decimals_of_step(ticks[1] - ticks[0])));
    }
    draw_value_axis(svg, frame, y, ticks, texts, chart.value_name);
    svg.text({(frame.left + frame.right) / 2, frame.bottom + 44}, chart.axis_name, "name", "middle");
}

/// Returns how high the picture has to be.
double draw_bars(Svg& svg, const BarChart& chart, const PlotFrame& frame, const SvgScale& y) {
    const double slot = slot_of(chart, frame);
    const double width = std::min(slot * 0.72, 84.0);
    std::size_t longest = 1;
    for (const Bar& bar : chart.bars) {
        longest = std::max({longest, bar.name.size(), bar.total.size()});
    }
    // Names that would touch: only every n-th is written.
    const auto every = static_cast<std::size_t>(std::ceil((text_width(longest) + 6) / slot));
    std::vector<double> middles, anywhere(kColorCount, -1);
    double edge = frame.right;
    for (std::size_t i = 0; i < chart.bars.size(); ++i) {
        const double center = frame.left + slot * (static_cast<double>(i) + 0.5);
        Bar bar = chart.bars[i];
        if (i % every == 0) {
            svg.text({center, frame.bottom + 20}, bar.name, "tick", "middle");
        } else {
            bar.total.clear();
        }
        middles = draw_bar(svg, bar, center, width, y);
        for (std::size_t color = 0; color < middles.size(); ++color) {
            anywhere[color] = std::max(anywhere[color], middles[color]);
        }
        edge = center + width / 2;
    }
    svg.line({frame.left, frame.bottom}, {frame.right, frame.bottom}, "axis");  // over the bars' outlines
    std::vector<SvgLabel> names;
    for (std::size_t color = 0; color < chart.names.size(); ++color) {
        if (anywhere[color] >= 0) {
            const bool is_in_last = middles[color] >= 0;  // else only its colour says what it is of
            const double at = is_in_last ? middles[color] : frame.top;
            names.push_back({at, chart.names[color], "label", at, static_cast<int>(color), is_in_last});
        }
    }
    if (chart.limit > 0) {
        svg.line({frame.left, y(chart.limit)}, {frame.right, y(chart.limit)}, "limit");
        names.push_back({y(chart.limit), chart.limit_name, "limit-text", y(chart.limit)});
    }
    return draw_names(svg, frame, std::move(names), edge);
}

BarChart loss_bars(const std::vector<NamedStep>& steps, const std::string& axis_name) {
    double shortest = steps.front().prediction->step_time_s, longest = shortest;
    for (const NamedStep& step : steps) {
        shortest = std::min(shortest, step.prediction->step_time_s);
        longest = std::max(longest, step.prediction->step_time_s);
    }
    const bool as_shares = longest > kReadableRatio * shortest;
    BarChart chart{
        axis_name, as_shares ? "percent of the step" : "seconds of one step", {}, {}, as_shares ? 100 : longest};
    for (const NamedStep& step : steps) {
        const predict::Prediction& p = *step.prediction;
        Bar bar{step.name, duration(p.step_time_s), {}};
        for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
            const double seconds = to_seconds(p.losses[loss]);
            const double share = seconds / p.step_time_s;
            bar.segments.push_back({as_shares ? share * 100 : seconds, loss, percent(share),
                                    readable(static_cast<schedule::Loss>(loss)) + ", " + step.tooltip_name + ": " +
                                        duration(seconds) + ", " + percent(share)});
        }
        chart.bars.push_back(std::move(bar));
    }
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        chart.names.push_back(readable(static_cast<schedule::Loss>(loss)));
    }
    return chart;
}

/// Labels in the order of their colors, which is that of the stages' lists; more than the palette has are one "other".
std::vector<std::string> memory_names(const predict::MemoryReport& memory) {
    std::vector<std::string> names;
    for (const schedule::StageMemory& stage : memory.by_stage) {
        for (const auto& [label, bytes] : stage.by_label) {
            if (std::find(names.begin(), names.end(), label) == names.end()) {
                names.push_back(label);
            }
        }
    }
    if (names.size() > kColorCount) {
        names.resize(kColorCount - 1);
        names.emplace_back("other");
    }
    return names;
}

Bar memory_bar(const schedule::StageMemory& stage, const std::vector<std::string>& names) {
    std::vector<double> bytes(names.size(), 0);
    for (const auto& [label, amount] : stage.by_label) {
        const auto found = std::find(names.begin(), names.end(), label);
        if (amount > 0) {
            bytes[std::min(static_cast<std::size_t>(found - names.begin()), names.size() - 1)] += amount;
        }
    }
    Bar bar{std::to_string(stage.stage), significant(stage.peak_bytes / 1e9), {}};
    for (std::size_t color = 0; color < names.size(); ++color) {
        bar.segments.push_back({bytes[color] / 1e9, color, significant(bytes[color] / 1e9),
                                names[color] + ", stage " + bar.name + ": " + significant(bytes[color] / 1e9) + " GB"});
    }
    return bar;
}

std::string draw(const BarChart& chart, std::string_view title, std::string_view description, double headroom,
                 double width) {
    const PlotFrame frame = plot_frame(width, {.left = 70, .names = 230, .top = 30, .height = 370});
    const SvgScale y{0, chart.top * headroom, frame.bottom, frame.top};
    Svg svg(width, 0, title, description);
    draw_axes(svg, chart, frame, y);
    svg.set_height(draw_bars(svg, chart, frame, y));
    return std::move(svg).finish();
}

}  // namespace

std::string step_loss_chart(const std::vector<NamedStep>& steps, const std::string& axis_name, std::string_view title,
                            double width) {
    return draw(loss_bars(steps, axis_name), title, "A stacked bar for each " + axis_name + "; a table has the numbers",
                1.02, width);
}

std::string loss_chart(const ScalingReport& report, double width) {
    std::vector<NamedStep> steps;
    for (const ScalePoint& point : report.points) {
        const std::string tiles = thousands(point.prediction.tiles);
        steps.push_back({tiles, tiles + " tiles", &point.prediction});
    }
    return draw(loss_bars(steps, "tiles"), "Where the time of a step goes",
                "A stacked bar for each number of tiles; the table below has the numbers", 1.02, width);
}

std::string placement_chart(const PlacementReport& report, double width) {
    std::vector<NamedStep> steps;
    for (const PlacedStep& step : report.steps) {
        steps.push_back({step.placement, step.placement, &step.prediction});
    }
    return step_loss_chart(steps, "placement", "Where the time of a step goes, by placement", width);
}

std::string memory_chart(const predict::MemoryReport& memory, double width) {
    const double capacity = memory.capacity_bytes / 1e9;
    BarChart chart{"pipeline stage",
                   "GB in each tile at the peak",
                   {},
                   memory_names(memory),
                   std::max(capacity, memory.peak_bytes / 1e9),
                   capacity,
                   "a tile has " + significant(capacity) + " GB"};
    for (const schedule::StageMemory& stage : memory.by_stage) {
        chart.bars.push_back(memory_bar(stage, chart.names));
    }
    return draw(chart, "Memory of each pipeline stage", memory.verdict, 1.06, width);
}

}  // namespace auspex::report
