/// @file Timelines as rows of coloured intervals.
#include "report/parts/timeline_chart.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "compare/kineto/account/run_diff.hpp"
#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kBin = 2;
constexpr std::size_t kNothing = kOperationGroups;

enum Group : std::size_t { kAttention, kFeedForward, kExperts, kHead, kTp, kEp, kPp, kDp, kOptimizer, kUnmatched };
constexpr std::array<const char*, kOperationGroups> kNames{
    "attention",   "norms and router",  "experts",     "embedding, loss", "tp messages",
    "ep messages", "pipeline messages", "dp messages", "optimizer",       "matches nothing"};
/// Colours of the style sheet, by group.
constexpr std::array<int, kOperationGroups> kColors{0, 1, 4, 9, 2, 5, 6, 7, 11, 8};

struct Row {
    std::string name;
    std::vector<std::size_t> groups;  ///< by bin
};

/// Time of each group in each bin of a row.
using BinTimes = std::vector<std::array<double, kOperationGroups>>;

void add_span(BinTimes& times, std::size_t group, double begin, double end) {
    const double last = static_cast<double>(times.size());
    begin = std::clamp(begin, 0.0, last);
    end = std::clamp(end, 0.0, last);
    for (auto bin = static_cast<std::size_t>(begin); bin < times.size() && static_cast<double>(bin) < end; ++bin) {
        const auto left = static_cast<double>(bin);
        times[bin][group] += std::min(end, left + 1) - std::max(begin, left);
    }
}

std::size_t heaviest(const std::array<double, kOperationGroups>& times) {
    constexpr double kMin = 0.05;  // of a bin: less is not seen
    const auto most = std::max_element(times.begin(), times.end());
    return *most < kMin ? kNothing : static_cast<std::size_t>(most - times.begin());
}

std::vector<Row> rows_of(const schedule::Timeline& timeline, Picoseconds length, std::size_t bins) {
    std::vector<Row> rows;
    std::vector<std::size_t> row_of_track;
    for (const schedule::Track& track : timeline.tracks) {
        const auto same =
            std::find_if(rows.begin(), rows.end(), [&track](const Row& row) { return row.name == track.role; });
        row_of_track.push_back(static_cast<std::size_t>(same - rows.begin()));
        if (same == rows.end()) {
            rows.push_back({track.role, {}});
        }
    }
    std::vector<BinTimes> times(rows.size(), BinTimes(bins));
    const double bins_per_tick = static_cast<double>(bins) / static_cast<double>(length);
    for (const schedule::Span& span : timeline.spans) {
        const std::size_t group = operation_group(timeline.tracks[span.track].stream, timeline.names[span.name]);
        add_span(times[row_of_track[span.track]], group, static_cast<double>(span.start) * bins_per_tick,
                 static_cast<double>(span.end) * bins_per_tick);
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
        std::transform(times[row].begin(), times[row].end(), std::back_inserter(rows[row].groups), heaviest);
    }
    return rows;
}

/// Neighbouring bins of one group are one rectangle.
void draw_row(Svg& svg, const Row& row, double left, double y, double height) {
    for (std::size_t begin = 0, end = 0; begin < row.groups.size(); begin = end) {
        const std::size_t group = row.groups[begin];
        end = begin + 1;
        while (end < row.groups.size() && row.groups[end] == group) {
            ++end;
        }
        if (group != kNothing) {
            svg.rect({left + kBin * static_cast<double>(begin), y}, kBin * static_cast<double>(end - begin), height,
                     "l" + std::to_string(kColors[group]), {});
        }
    }
}

/// "matches nothing" only where something does. Returns where it ends.
double draw_legend(Svg& svg, double left, double right, double y, bool has_unmatched) {
    constexpr double kSwatch = 11, kGap = 16;
    double x = left;
    for (std::size_t group = 0; group < kOperationGroups - (has_unmatched ? 0 : 1); ++group) {
        const std::string name = operation_group_name(group);
        const double width = kSwatch + 6 + text_width(name.size()) + kGap;
        if (x + width > right + kGap) {
            x = left;
            y += 19;
        }
        svg.rect({x, y - kSwatch + 1}, kSwatch, kSwatch, "l" + std::to_string(kColors[group]), {});
        svg.text({x + kSwatch + 6, y}, name, "tick");
        x += width;
    }
    return y;
}

void draw_axis(Svg& svg, const PlotFrame& frame, Picoseconds length) {
    constexpr int kTicks = 8;
    constexpr double kMilli = 1e3;
    const double longest = to_seconds(length) * kMilli;
    const SvgScale x{0, longest, frame.left, frame.right};
    std::vector<double> ticks = round_ticks(0, longest, kTicks);
    std::vector<std::string> texts;
    const int decimals = decimals_of_step(ticks[1] - ticks[0]);
    std::erase_if(ticks, [longest](double tick) { return tick > longest; });
    for (const double tick : ticks) {
        svg.line({x(tick), frame.top}, {x(tick), frame.bottom}, "grid");
        texts.push_back(fixed(tick, decimals));
    }
    draw_bottom_axis(svg, frame, x, ticks, texts, "milliseconds");
}

/// Where the picture's rows stand.
struct RowHeights {
    double row = 0;
    static constexpr double kGap = 2, kTitle = 22, kBetween = 14, kName = 14;
};

/// Rows from `y` down, with the names that have room; returns where the last one ends.
double draw_rows(Svg& svg, const std::vector<Row>& rows, const PlotFrame& frame, const RowHeights& heights, double y) {
    double named = y - RowHeights::kName;
    for (const Row& row : rows) {
        draw_row(svg, row, frame.left, y, heights.row);
        if (y - named >= RowHeights::kName) {
            svg.text({frame.left - 8, y + heights.row / 2 + 4.5}, row.name, "tick", "end");
            named = y;
        }
        y += heights.row + RowHeights::kGap;
    }
    return y;
}

}  // namespace

std::size_t operation_group(const std::string& stream, const std::string& name) {
    const std::string_view kind = std::string_view(name).substr(0, name.find('.'));
    const auto is_one_of = [kind](std::initializer_list<std::string_view> kinds) {
        return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    if (kind == kineto::kUnmatchedSpan) {
        return kUnmatched;
    }
    if (kind.starts_with("receive_") || kind.starts_with("send_")) {
        return kPp;  // on the stream "compute" where a message blocks it
    }
    constexpr std::array<std::pair<std::string_view, Group>, 5> kStreams{
        {{"tp", kTp}, {"ep", kEp}, {"pp", kPp}, {"dp", kDp}, {"cp", kTp}}};
    for (const auto& [word, group] : kStreams) {
        if (stream == word) {
            return group;
        }
    }
    if (is_one_of({"embedding", "final_norm", "lm_head", "cross_entropy", "prediction_input"})) {
        return kHead;
    }
    if (is_one_of({"gradient_check", "gradient_norm", "optimizer_update", "router_bias_update", "step_host",
                   "host_sync", "barrier"})) {
        return kOptimizer;
    }
    if (is_one_of({"token_counting", "index_generation", "expert_computation", "output_reduction", "shared_expert",
                   "shared_expert_sum", "gate_up_projection", "activation", "down_projection"})) {
        return kExperts;
    }
    return is_one_of({"attention_norm", "feed_forward_norm", "residual_add", "router", "router_top_k"}) ? kFeedForward
                                                                                                        : kAttention;
}

const char* operation_group_name(std::size_t group) {
    AUSPEX_CHECK(group < kOperationGroups, "a group of operations");
    return kNames[group];
}

int operation_group_color(std::size_t group) {
    AUSPEX_CHECK(group < kOperationGroups, "a group of operations");
    return kColors[group];
}

Picoseconds end_of_spans(const schedule::Timeline& timeline) {
    Picoseconds end = 0;
    for (const schedule::Span& span : timeline.spans) {
        end = std::max(end, span.end);
    }
    return end;
}

std::string timeline_chart(const std::string& title, const std::vector<TimelinePanel>& panels, double width) {
    constexpr double kMaxRow = 22, kMinRow = 5, kAllRows = 260;
    PlotFrame frame = plot_frame(width, {.left = 84, .names = 16});
    const auto bins = static_cast<std::size_t>((frame.right - frame.left) / kBin);
    Picoseconds length = 0;
    bool has_unmatched = false;
    for (const TimelinePanel& panel : panels) {
        length = std::max(length, end_of_spans(*panel.timeline));
        has_unmatched = has_unmatched ||
                        std::ranges::find(panel.timeline->names, kineto::kUnmatchedSpan) != panel.timeline->names.end();
    }
    AUSPEX_CHECK(length > 0, "a timeline that is drawn has spans");
    std::vector<std::vector<Row>> rows;
    std::size_t most = 0;
    for (const TimelinePanel& panel : panels) {
        rows.push_back(rows_of(*panel.timeline, length, bins));
        most = std::max(most, rows.back().size());
    }
    const RowHeights heights{std::clamp(kAllRows / static_cast<double>(most), kMinRow, kMaxRow)};
    Svg svg(width, 0, title, panels.size() == 1 ? "operations over time" : "one above the other");
    frame.top = draw_legend(svg, frame.is_phone ? 8 : frame.left, frame.right, 18, has_unmatched) + 16;
    frame.bottom = frame.top;
    for (std::size_t i = 0; i < panels.size(); ++i) {
        frame.bottom += (panels[i].title.empty() ? 0 : RowHeights::kTitle) + (i > 0 ? RowHeights::kBetween : 0) +
                        static_cast<double>(rows[i].size()) * (heights.row + RowHeights::kGap);
    }
    draw_axis(svg, frame, length);
    double y = frame.top;
    for (std::size_t i = 0; i < panels.size(); ++i) {
        if (!panels[i].title.empty()) {
            svg.text({frame.left, y + 15}, panels[i].title, "label");
            y += RowHeights::kTitle;
        }
        y = draw_rows(svg, rows[i], frame, heights, y) + RowHeights::kBetween;
    }
    svg.set_height(frame.bottom + kBelowAxis);
    return std::move(svg).finish();
}

}  // namespace auspex::report
