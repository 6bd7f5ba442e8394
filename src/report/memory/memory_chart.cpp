/// @file Areas of live bytes over the time of a step.
#include <algorithm>
#include <numeric>

#include "report/memory/memory_page.hpp"
#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr PlotWishes kWishes{.left = 70, .names = 210, .top = 30, .height = 340};
constexpr std::size_t kColumns = 155;  // four pixels each in a wide picture
constexpr double kHeadroom = 1.05;
constexpr double kNearLimit = 2;  // a limit above so many times the peak would leave the picture empty

void draw_gigabytes(Svg& svg, const PlotFrame& frame, const SvgScale& y) {
    const std::vector<double> ticks = round_ticks(0, y.high, 6);
    std::vector<std::string> texts;
    for (const double tick : ticks) {
        texts.push_back(fixed(tick, decimals_of_step(ticks[1] - ticks[0])));
    }
    draw_value_axis(svg, frame, y, ticks, texts, "GB in each tile");
}

void draw_seconds(Svg& svg, const PlotFrame& frame, const SvgScale& x) {
    std::vector<double> times = round_ticks(0, x.high, 6);
    std::vector<std::string> time_texts;
    const int decimals = decimals_of_step(times[1] - times[0]);
    std::erase_if(times, [&](double time) { return time > x.high; });
    for (const double time : times) {
        time_texts.push_back(fixed(time, decimals));
    }
    draw_bottom_axis(svg, frame, x, times, time_texts, "seconds of the step");
}

/// A level from one x to the next; one that goes on at the same height is drawn on.
void add_step(std::vector<SvgPoint>& line, double from, double to, double y) {
    if (!line.empty() && line.back().y == y) {
        line.back().x = to;
    } else {
        line.insert(line.end(), {{from, y}, {to, y}});
    }
}

/// An area from `below` up by the label's bytes; raises `below`. Steps, not slopes: memory comes and goes at once.
void draw_area(Svg& svg, const std::vector<std::vector<double>>& bytes, std::size_t label, const SvgScale& x,
               const SvgScale& y, std::vector<double>& below) {
    std::vector<SvgPoint> upper, lower;
    for (std::size_t column = 0; column < bytes.size(); ++column) {
        const auto from = static_cast<double>(column), to = from + 1;
        const double before_gb = below[column], after_gb = before_gb + bytes[column][label] / 1e9;
        add_step(upper, x(from), x(to), y(after_gb));
        add_step(lower, x(from), x(to), y(before_gb));
        below[column] = after_gb;
    }
    upper.insert(upper.end(), lower.rbegin(), lower.rend());
    svg.polygon(upper, "segment l" + std::to_string(label));
}

/// False of fragments of an allocator that is played: they are known of the peak alone.
bool is_drawn(const std::vector<std::vector<double>>& bytes, std::size_t label) {
    return std::ranges::any_of(bytes, [label](const std::vector<double>& column) { return column[label] > 0; });
}

/// GB of each label and of all, where the pointer is.
Readout readout_of(const predict::MemoryCourse& course, const schedule::StageMemory& memory,
                   const std::vector<std::vector<double>>& bytes, const PlotFrame& frame, const SvgScale& columns) {
    Readout readout{frame.top, frame.bottom, {}, {}, {}};
    readout.series.push_back({"all", {}, {}});
    std::vector<std::size_t> labels;
    for (std::size_t label = memory.by_label.size(); label-- > 0;) {
        if (memory.peak_by_label[label].second > 0 && is_drawn(bytes, label)) {
            labels.push_back(label);
            readout.series.push_back({memory.by_label[label].first, {}, {}});
        }
    }
    for (std::size_t column = 0; column < bytes.size(); ++column) {
        readout.x.push_back(columns(static_cast<double>(column) + 0.5));
        const double middle_s =
            course.step_time_s * (static_cast<double>(column) + 0.5) / static_cast<double>(kColumns);
        readout.heads.push_back("at " + duration(middle_s));
        double sum = 0;
        for (std::size_t i = 0; i < labels.size(); ++i) {
            const double amount = bytes[column][labels[i]];
            sum += amount;
            readout.series[i + 1].y.emplace_back();
            readout.series[i + 1].texts.push_back(amount > 0 ? significant(amount / 1e9) + " GB" : "");
        }
        readout.series[0].y.emplace_back();
        readout.series[0].texts.push_back(significant(sum / 1e9) + " GB");
    }
    return readout;
}

}  // namespace

std::string memory_course_chart(const predict::MemoryCourse& course, int stage, double width) {
    const auto at = static_cast<std::size_t>(stage);
    const schedule::StageMemory& memory = course.memory.by_stage[at];
    const std::vector<std::vector<double>> bytes = most_bytes(course.stages[at], course.step_time_s, kColumns);
    const double capacity_gb = course.memory.capacity_bytes / 1e9;
    const double peak_gb = memory.peak_bytes / 1e9;
    const bool shows_limit = capacity_gb <= kNearLimit * peak_gb;
    const PlotFrame frame = plot_frame(width, kWishes);
    const SvgScale y{0, (shows_limit ? std::max(capacity_gb, peak_gb) : peak_gb) * kHeadroom, frame.bottom, frame.top};
    const SvgScale columns{0, static_cast<double>(kColumns), frame.left, frame.right};
    Svg svg(width, 0, "Memory of stage " + std::to_string(stage) + " over the step",
            "Allocated bytes by label over time; the table beside it has the numbers at the peak");
    draw_gigabytes(svg, frame, y);
    std::vector<double> below(kColumns, 0);
    std::vector<SvgLabel> labels;
    for (std::size_t label = 0; label < memory.by_label.size(); ++label) {
        if (memory.peak_by_label[label].second > 0 && is_drawn(bytes, label)) {
            const double before_gb = below.back();
            draw_area(svg, bytes, label, columns, y, below);
            const double middle = y((before_gb + below.back()) / 2);
            labels.insert(labels.begin(), {middle, memory.by_label[label].first, "label", middle,
                                           static_cast<int>(label), below.back() > before_gb});
        }
    }
    if (memory.reserved_bytes > 0) {
        svg.line({frame.left, y(peak_gb)}, {frame.right, y(peak_gb)}, "ideal");
        labels.insert(labels.begin(),
                      {y(peak_gb), "reserved, with runtime: " + significant(peak_gb) + " GB", "label", y(peak_gb)});
    }
    draw_seconds(svg, frame, {0, course.step_time_s, frame.left, frame.right});
    const std::string limit = "a tile has " + significant(capacity_gb) + " GB";
    if (shows_limit) {
        svg.line({frame.left, y(capacity_gb)}, {frame.right, y(capacity_gb)}, "limit");
        labels.insert(labels.begin(), {y(capacity_gb), limit, "limit-text", y(capacity_gb)});
    } else {
        svg.text({frame.right, frame.top - 12}, limit, "limit-text", "end");
    }
    svg.readout(readout_of(course, memory, bytes, frame, columns));
    svg.set_height(draw_names(svg, frame, std::move(labels), frame.right));
    return std::move(svg).finish();
}

}  // namespace auspex::report
