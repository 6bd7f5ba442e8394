/// @file Timelines as rows of coloured intervals.
#include "report/parts/timeline_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "compare/kineto/account/run_diff.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kWidth = 960, kLeft = 84, kRight = 944, kBin = 2;
constexpr auto kBins = static_cast<std::size_t>((kRight - kLeft) / kBin);
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

std::vector<Row> rows_of(const schedule::Timeline& timeline, Picoseconds length) {
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
    std::vector<BinTimes> times(rows.size(), BinTimes(kBins));
    const double bins_per_tick = static_cast<double>(kBins) / static_cast<double>(length);
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

Picoseconds end_of_spans(const schedule::Timeline& timeline) {
    Picoseconds end = 0;
    for (const schedule::Span& span : timeline.spans) {
        end = std::max(end, span.end);
    }
    return end;
}

/// Neighbouring bins of one group are one rectangle.
void draw_row(Svg& svg, const Row& row, double y, double height) {
    for (std::size_t begin = 0, end = 0; begin < row.groups.size(); begin = end) {
        const std::size_t group = row.groups[begin];
        end = begin + 1;
        while (end < row.groups.size() && row.groups[end] == group) {
            ++end;
        }
        if (group != kNothing) {
            svg.rect({kLeft + kBin * static_cast<double>(begin), y}, kBin * static_cast<double>(end - begin), height,
                     "l" + std::to_string(kColors[group]), {});
        }
    }
    svg.text({kLeft - 8, y + height / 2 + 4.5}, row.name, "tick", "end");
}

/// "matches nothing" only where something does.
void draw_legend(Svg& svg, double y, bool has_unmatched) {
    constexpr double kSwatch = 11, kLetter = 7.4, kGap = 16;
    double x = kLeft;
    for (std::size_t group = 0; group < kOperationGroups - (has_unmatched ? 0 : 1); ++group) {
        const std::string name = operation_group_name(group);
        const double width = kSwatch + 6 + kLetter * static_cast<double>(name.size()) + kGap;
        if (x + width > kRight + kGap) {
            x = kLeft;
            y += 19;
        }
        svg.rect({x, y - kSwatch + 1}, kSwatch, kSwatch, "l" + std::to_string(kColors[group]), {});
        svg.text({x + kSwatch + 6, y}, name, "tick");
        x += width;
    }
}

void draw_axis(Svg& svg, Picoseconds length, double top, double y) {
    constexpr int kTicks = 8;
    constexpr double kMilli = 1e3;
    const double longest = to_seconds(length) * kMilli;
    const SvgScale x{0, longest, kLeft, kRight};
    const std::vector<double> ticks = round_ticks(0, longest, kTicks);
    for (const double tick : ticks) {
        if (tick <= longest) {
            svg.line({x(tick), top}, {x(tick), y}, "grid");
            svg.text({x(tick), y + 17}, fixed(tick, decimals_of_step(ticks[1] - ticks[0])), "tick", "middle");
        }
    }
    svg.text({(kLeft + kRight) / 2, y + 37}, "milliseconds", "name", "middle");
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
    if (is_one_of({"embedding", "final_norm", "lm_head", "cross_entropy"})) {
        return kHead;
    }
    if (is_one_of({"gradient_check", "gradient_norm", "optimizer_update", "step_host", "host_sync", "barrier"})) {
        return kOptimizer;
    }
    if (is_one_of({"token_counting", "index_generation", "expert_computation", "output_reduction", "shared_expert",
                   "gate_up_projection", "activation", "down_projection"})) {
        return kExperts;
    }
    return is_one_of({"attention_norm", "feed_forward_norm", "residual_add", "router", "router_top_k"}) ? kFeedForward
                                                                                                        : kAttention;
}

const char* operation_group_name(std::size_t group) {
    AUSPEX_CHECK(group < kOperationGroups, "a group of operations");
    return kNames[group];
}

std::string timeline_chart(const std::string& title, const schedule::Timeline& measured,
                           const schedule::Timeline& predicted) {
    constexpr double kTop = 84, kHead = 22, kBetween = 14, kMaxRow = 22, kMinRow = 11, kRowGap = 2, kAxis = 48;
    constexpr double kAllRows = 260;
    const Picoseconds length = std::max(end_of_spans(measured), end_of_spans(predicted));
    AUSPEX_CHECK(length > 0, "a timeline that is drawn has spans");
    const std::array<std::vector<Row>, 2> panels{rows_of(measured, length), rows_of(predicted, length)};
    const auto most_rows = static_cast<double>(std::max(panels[0].size(), panels[1].size()));
    const double row_height = std::clamp(kAllRows / most_rows, kMinRow, kMaxRow);
    const double rows = static_cast<double>(panels[0].size() + panels[1].size());
    const double bottom = kTop + 2 * kHead + kBetween + rows * (row_height + kRowGap);
    Svg svg(kWidth, bottom + kAxis, title,
            "measured: " + duration(to_seconds(end_of_spans(measured))) +
                ", predicted: " + duration(to_seconds(end_of_spans(predicted))));
    svg.text({14, 24}, title, "total");
    draw_legend(
        svg, 50,
        std::find(measured.names.begin(), measured.names.end(), kineto::kUnmatchedSpan) != measured.names.end());
    draw_axis(svg, length, kTop, bottom);
    double y = kTop;
    for (const bool is_predicted : {false, true}) {
        const schedule::Timeline& timeline = is_predicted ? predicted : measured;
        svg.text({kLeft, y + kHead - 7},
                 (is_predicted ? "predicted, " : "measured, ") + duration(to_seconds(end_of_spans(timeline))), "label");
        y += kHead;
        for (const Row& row : panels[is_predicted ? 1 : 0]) {
            draw_row(svg, row, y, row_height);
            y += row_height + kRowGap;
        }
        y += kBetween;
    }
    return std::move(svg).finish();
}

}  // namespace auspex::report
