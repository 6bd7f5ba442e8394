/// @file Areas of live bytes over the time of a step.
#include <algorithm>
#include <numeric>

#include "report/memory/memory_page.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kWidth = 860, kHeight = 430;
constexpr double kLeft = 70, kRight = 690, kTop = 30, kBottom = 370;
constexpr double kLabelX = kRight + 20, kLabelGap = 17;
constexpr std::size_t kColumns = 155;  // four pixels each
constexpr double kHeadroom = 1.05;
constexpr double kNearLimit = 2;  // a limit above so many times the peak would leave the picture empty

void draw_axes(Svg& svg, const SvgScale& x, const SvgScale& y) {
    const std::vector<double> ticks = round_ticks(0, y.high, 6), times = round_ticks(0, x.high, 6);
    for (const double tick : ticks) {
        if (tick <= y.high) {
            svg.line({kLeft, y(tick)}, {kRight, y(tick)}, "grid");
            svg.text({kLeft - 8, y(tick) + 4.5}, fixed(tick, decimals_of_step(ticks[1] - ticks[0])), "tick", "end");
        }
    }
    for (const double time : times) {
        if (time <= x.high) {
            svg.text({x(time), kBottom + 20}, fixed(time, decimals_of_step(times[1] - times[0])), "tick", "middle");
        }
    }
    svg.text_upwards({20, (kTop + kBottom) / 2}, "GB in each tile", "name");
    svg.text({(kLeft + kRight) / 2, kBottom + 44}, "seconds of the step", "name", "middle");
}

/// An area from `below` up by the label's bytes; raises `below`. Steps, not slopes: memory comes and goes at once.
void draw_area(Svg& svg, const std::vector<std::vector<double>>& bytes, std::size_t label, const SvgScale& x,
               const SvgScale& y, std::vector<double>& below) {
    std::vector<SvgPoint> upper, lower;
    for (std::size_t column = 0; column < bytes.size(); ++column) {
        const auto from = static_cast<double>(column), to = from + 1;
        const double before_gb = below[column], after_gb = before_gb + bytes[column][label] / 1e9;
        upper.insert(upper.end(), {{x(from), y(after_gb)}, {x(to), y(after_gb)}});
        lower.insert(lower.end(), {{x(from), y(before_gb)}, {x(to), y(before_gb)}});
        below[column] = after_gb;
    }
    upper.insert(upper.end(), lower.rbegin(), lower.rend());
    svg.polygon(upper, "segment l" + std::to_string(label));
}

}  // namespace

std::string memory_course_chart(const predict::MemoryCourse& course, int stage) {
    const auto at = static_cast<std::size_t>(stage);
    const schedule::StageMemory& memory = course.memory.by_stage[at];
    const std::vector<std::vector<double>> bytes = most_bytes(course.stages[at], course.step_time_s, kColumns);
    const double capacity_gb = course.memory.capacity_bytes / 1e9;
    const double peak_gb = memory.peak_bytes / 1e9;
    const bool shows_limit = capacity_gb <= kNearLimit * peak_gb;
    const SvgScale y{0, (shows_limit ? std::max(capacity_gb, peak_gb) : peak_gb) * kHeadroom, kBottom, kTop};
    const SvgScale columns{0, static_cast<double>(kColumns), kLeft, kRight};
    Svg svg(kWidth, kHeight, "Memory of stage " + std::to_string(stage) + " over the step",
            "Live bytes by label over time; the table beside it has the numbers at the peak");
    draw_axes(svg, {0, course.step_time_s, kLeft, kRight}, y);
    std::vector<double> below(kColumns, 0);
    std::vector<SvgLabel> labels;
    for (std::size_t label = 0; label < memory.by_label.size(); ++label) {
        if (memory.peak_by_label[label].second > 0) {
            const double before_gb = below.back();
            draw_area(svg, bytes, label, columns, y, below);
            const double middle = y((before_gb + below.back()) / 2);
            labels.insert(labels.begin(), {middle, memory.by_label[label].first, "label", middle,
                                           static_cast<int>(label), below.back() > before_gb});
        }
    }
    svg.line({kLeft, kBottom}, {kRight, kBottom}, "axis");
    const std::string limit = "a tile has " + significant(capacity_gb) + " GB";
    if (shows_limit) {
        svg.line({kLeft, y(capacity_gb)}, {kRight, y(capacity_gb)}, "limit");
        labels.insert(labels.begin(), {y(capacity_gb), limit, "limit-text", y(capacity_gb)});
    } else {
        svg.text({kLabelX, kTop - 12}, limit, "limit-text");
    }
    spread_labels(labels, kLabelGap, kTop, kBottom - 4);
    svg.labels(labels, kRight + 2, kLabelX);
    return std::move(svg).finish();
}

}  // namespace auspex::report
