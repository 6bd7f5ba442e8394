/// @file Pictures of a campaign: distribution, shares, one course.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>

#include "base/units.hpp"
#include "report/campaign/campaign_page.hpp"
#include "report/parts/plot_frame.hpp"
#include "report/parts/row_bars.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kDay = 86'400;
constexpr int kBins = 40;

/// There is a colour fewer than uses of time: maintenance has that of swaps, which are as rare and much shorter.
int color_of(std::size_t kind) {
    const bool is_last = kind == static_cast<std::size_t>(campaign::Spent::kMaintenance);
    return static_cast<int>(is_last ? static_cast<std::size_t>(campaign::Spent::kSwap) : kind);
}

std::string days(double seconds) { return significant(seconds / kDay) + " d"; }

std::vector<std::string> texts_of(const std::vector<double>& ticks, const char* unit) {
    std::vector<std::string> texts;
    for (const double tick : ticks) {
        texts.push_back(fixed(tick, decimals_of_step(ticks.size() > 1 ? ticks[1] - ticks[0] : tick)) + unit);
    }
    return texts;
}

void keep_inside(std::vector<double>& ticks, double low, double high) {
    std::erase_if(ticks, [&](double tick) { return tick < low || tick > high; });
}

/// Samples by length, in equal bins.
struct Bins {
    double low = 0, high = 1;
    std::array<int, kBins> counts{};
};

Bins bins_of(const std::vector<double>& lengths_d) {
    Bins bins;
    const auto [least, most] = std::ranges::minmax(lengths_d);
    bins.low = least;
    bins.high = std::max(most, least * (1 + 1e-6));
    for (const double length : lengths_d) {
        const auto bin = static_cast<std::size_t>((length - bins.low) / (bins.high - bins.low) * kBins);
        ++bins.counts[std::min<std::size_t>(bin, kBins - 1)];
    }
    return bins;
}

/// A stretch of a campaign as it is drawn.
struct Span {
    campaign::Period period;
    campaign::Nanoseconds longest = 0;  ///< of its parts, which names it
    bool is_mixed = false;
};

/// Stretches of which each can be seen, where a pixel is so long: checkpoints that are shorter count to the steps
/// around them, and parts of a recovery that all are shorter are one stretch, named by the longest of them.
std::vector<Span> visible_spans(const std::vector<campaign::Period>& periods, double pixel) {
    std::vector<Span> spans;
    for (campaign::Period period : periods) {
        const campaign::Nanoseconds length = period.end - period.begin;
        const bool is_short = static_cast<double>(length) < pixel;
        if (is_short && period.spent == campaign::Spent::kCheckpoint) {
            period.spent = campaign::Spent::kWork;
        }
        const bool is_work = period.spent == campaign::Spent::kWork;
        const bool follows = !spans.empty() && spans.back().period.end == period.begin;
        const bool is_same = follows && !spans.back().is_mixed && spans.back().period.spent == period.spent;
        const bool is_part = follows && is_short && !is_work && spans.back().period.spent != campaign::Spent::kWork &&
                             static_cast<double>(spans.back().longest) < pixel;
        if (!is_same && !is_part) {
            spans.push_back({period, length});
            continue;
        }
        Span& last = spans.back();
        last.period.end = period.end;
        last.is_mixed = !is_same;
        if (is_same) {
            last.longest += length;
        } else if (length > last.longest) {
            last.longest = length;
            last.period.spent = period.spent;
        }
    }
    return spans;
}

std::string words_of_span(const Span& span) {
    return std::string(words_of(span.period.spent)) + (span.is_mixed ? " and other parts of a recovery, " : ", ") +
           format_quantity(campaign::to_seconds(span.period.end - span.period.begin), Dimension::kSeconds) +
           " from day " + significant(campaign::to_seconds(span.period.begin) / kDay, 4) + " on";
}

/// Squares with names, in rows below `y`; returns where they end.
double draw_legend(Svg& svg, const PlotFrame& frame, double y, const std::array<bool, campaign::kSpentCount>& seen) {
    constexpr double kRow = 20, kSquare = 12;
    double x = frame.left;
    for (std::size_t kind = 0; kind < seen.size(); ++kind) {
        if (!seen[kind]) {
            continue;
        }
        const std::string name = words_of(static_cast<campaign::Spent>(kind));
        const double needs = kSquare + 24 + text_width(name.size());
        if (x > frame.left && x + needs > frame.right) {
            x = frame.left;
            y += kRow;
        }
        svg.rect({x, y - kSquare + 1}, kSquare, kSquare, "segment l" + std::to_string(color_of(kind)), "");
        svg.text({x + kSquare + 5, y}, name, "tick");
        x += needs;
    }
    return y;
}

}  // namespace

std::string finish_chart(const CampaignPage& page, double width) {
    std::vector<double> lengths_d;
    for (const double elapsed_s : page.result.samples_elapsed_s) {
        if (std::isfinite(elapsed_s)) {
            lengths_d.push_back(elapsed_s / kDay);
        }
    }
    if (lengths_d.empty()) {
        return "";
    }
    const Bins bins = bins_of(lengths_d);
    const PlotFrame frame = plot_frame(width, {.left = 70, .names = 0, .top = 34, .height = 280});
    const std::vector<double> counts = round_ticks(0, *std::ranges::max_element(bins.counts), 5);
    const SvgScale x{bins.low, bins.high, frame.left, frame.right}, y{0, counts.back(), frame.bottom, frame.top};
    Svg svg(width, frame.bottom + kBelowAxis, "When runs are over", "samples by length in days");
    draw_value_axis(svg, frame, y, counts, texts_of(counts, ""), "samples");
    std::vector<double> ticks = round_ticks(bins.low, bins.high, 7);
    keep_inside(ticks, bins.low, bins.high);
    draw_bottom_axis(svg, frame, x, ticks, texts_of(ticks, ""), "days from the begin to the last checkpoint");
    const double step = (bins.high - bins.low) / kBins;
    for (std::size_t i = 0; i < bins.counts.size(); ++i) {
        const double from = bins.low + static_cast<double>(i) * step;
        svg.rect({x(from), y(bins.counts[i])}, x(from + step) - x(from), frame.bottom - y(bins.counts[i]), "segment l0",
                 counted(bins.counts[i], "sample") + " of " + significant(from, 4) + " to " +
                     significant(from + step, 4) + " d");
    }
    const campaign::Quantiles& by = page.result.elapsed_s;
    for (const auto& [value_s, name] : {std::pair(by.p10, "10 %"), {by.p50, "50 %"}, {by.p90, "90 %"}}) {
        if (std::isfinite(value_s)) {
            svg.line({x(value_s / kDay), frame.top}, {x(value_s / kDay), frame.bottom}, "limit");
            svg.text({x(value_s / kDay), frame.top - 8}, name, "limit-text", "middle");
        }
    }
    return std::move(svg).finish();
}

std::string badput_chart(const CampaignPage& page, double width) {
    RowBarChart chart{"What the time went to", "shares of all time", "% of all time", {}, {}};
    chart.text_characters = 7;
    std::vector<std::size_t> kinds;
    for (std::size_t i = 1; i < campaign::kSpentCount; ++i) {
        if (page.result.shares[i] > 0) {
            kinds.push_back(i);
        }
    }
    std::ranges::sort(kinds, std::greater(), [&](std::size_t i) { return page.result.shares[i]; });
    for (const std::size_t i : kinds) {
        const double share = page.result.shares[i];
        chart.rows.push_back(
            {words_of(static_cast<campaign::Spent>(i)), {{0, 100 * share, color_of(i), percent(share, 2), {}}}});
    }
    return chart.rows.empty() ? "" : row_bar_chart(chart, width);
}

std::string course_chart(const CampaignPage& page, double width) {
    constexpr double kTop = 60, kHeight = 46, kMark = 14, kThinnest = 1;
    const double left = 12, right = width - 12, length_s = campaign::to_seconds(page.course.elapsed);
    const SvgScale x{0, length_s / kDay, left, right};
    Svg svg(width, 0, "One campaign", "what its time went to, from left to right, with failures as marks");
    const auto at = [&](campaign::Nanoseconds time) { return x(campaign::to_seconds(time) / kDay); };
    const std::vector<Span> spans =
        visible_spans(page.course.periods, static_cast<double>(page.course.elapsed) / (right - left));
    std::array<bool, campaign::kSpentCount> seen{};
    for (const bool draws_work : {true, false}) {  // what is widened stands on the steps, not below them
        for (const Span& span : spans) {
            const auto kind = static_cast<std::size_t>(span.period.spent);
            if ((span.period.spent == campaign::Spent::kWork) == draws_work) {
                const double begin = at(span.period.begin);
                svg.rect({begin, kTop}, std::max(at(span.period.end) - begin, kThinnest), kHeight,
                         "l" + std::to_string(color_of(kind)), words_of_span(span));
                seen[kind] = true;
            }
        }
    }
    for (const campaign::Strike& strike : page.course.strikes) {
        svg.marker({at(strike.at), kTop - kMark}, 1, "mark v1",
                   page.setting.failures[strike.source].cause + " on day " +
                       significant(campaign::to_seconds(strike.at) / kDay, 4));
    }
    const PlotFrame frame{width, left, right, kTop, kTop + kHeight + 6, false, width < kColumnPicture};
    std::vector<double> ticks = round_ticks(0, length_s / kDay, 8);
    keep_inside(ticks, 0, length_s / kDay);
    draw_bottom_axis(svg, frame, x, ticks, texts_of(ticks, ""), "days");
    svg.set_height(draw_legend(svg, frame, frame.bottom + kBelowAxis, seen) + 14);
    return std::move(svg).finish();
}

std::string interval_chart(const CampaignPage& page, double width) {
    const std::vector<campaign::IntervalPoint>& points = page.best->curve;
    double least = points.front().stretch, most = least;
    for (const campaign::IntervalPoint& point : points) {
        least = std::min(least, point.stretch);
        most = std::max(most, point.stretch);
    }
    const PlotFrame frame = plot_frame(width, {.left = 80, .names = 0, .top = 34, .height = 280});
    const std::vector<double> ticks_y = round_ticks(100 * (least - 1), 100 * std::max(most - 1, least - 1 + 1e-4), 5);
    const SvgScale x{points.front().interval_s / 60,
                     std::max(points.back().interval_s, points.front().interval_s * 1.01) / 60, frame.left, frame.right,
                     true};
    const SvgScale y{ticks_y.front(), ticks_y.back(), frame.bottom, frame.top};
    Svg svg(width, frame.bottom + kBelowAxis, "Intervals between checkpoints",
            "what a run takes beyond its steps, by interval");
    draw_value_axis(svg, frame, y, ticks_y, texts_of(ticks_y, ""), "% beyond the steps");
    const std::vector<double> ticks = decade_ticks(x.low, x.high);
    std::vector<std::string> texts;
    std::ranges::transform(ticks, std::back_inserter(texts), tick_count);
    draw_bottom_axis(svg, frame, x, ticks, texts, "minutes of steps between checkpoints");
    std::vector<SvgPoint> line;
    for (const campaign::IntervalPoint& point : points) {
        line.push_back({x(point.interval_s / 60), y(100 * (point.stretch - 1))});
        svg.marker(line.back(), 0, "mark v0",
                   format_quantity(point.interval_s, Dimension::kSeconds) + ": " + percent(point.stretch - 1, 2));
    }
    svg.polyline(line, "curve v0");
    const double best = x(std::clamp(page.best->interval_s / 60, x.low, x.high));
    svg.line({best, frame.top}, {best, frame.bottom}, "limit");
    svg.text({best, frame.top - 8}, "best: " + format_quantity(page.best->interval_s, Dimension::kSeconds),
             "limit-text", "middle");
    return std::move(svg).finish();
}

std::string campaign_curve_chart(const CampaignCurve& curve, double width) {
    std::vector<double> hours;
    for (const CampaignPoint& point : curve.points) {
        for (const double value :
             {point.result.node_hours.p10, point.result.node_hours.p50, point.result.node_hours.p90}) {
            if (std::isfinite(value)) {
                hours.push_back(value);
            }
        }
    }
    if (hours.empty()) {
        return "";
    }
    const auto [least, most] = std::ranges::minmax(hours);
    const bool is_log = curve.what == "interval" || curve.what == "nodes";
    const double unit = curve.is_time ? 3600 : 1, first = curve.points.front().value / unit;
    const PlotFrame frame = plot_frame(width, {.left = 100, .names = 0, .top = 24, .height = 280, .phone_left = 86});
    const std::vector<double> ticks_y = round_ticks(least, std::max(most, least * (1 + 1e-6)), 5);
    const SvgScale x{first, std::max(curve.points.back().value / unit, first * 1.01 + 1e-9), frame.left, frame.right,
                     is_log};
    const SvgScale y{ticks_y.front(), ticks_y.back(), frame.bottom, frame.top};
    Svg svg(width, frame.bottom + kBelowAxis, "Node hours by " + curve.what, "median, with 10 and 90 % of samples");
    std::vector<std::string> texts_y, texts;
    std::ranges::transform(ticks_y, std::back_inserter(texts_y), tick_count);
    draw_value_axis(svg, frame, y, ticks_y, texts_y, "node hours");
    std::vector<double> ticks = is_log ? decade_ticks(x.low, x.high) : round_ticks(x.low, x.high, 7);
    keep_inside(ticks, x.low, x.high);
    std::ranges::transform(ticks, std::back_inserter(texts), tick_count);
    draw_bottom_axis(svg, frame, x, ticks, texts, curve.is_time ? curve.what + ", hours" : curve.what);
    const auto draw = [&](double campaign::Quantiles::*which, const std::string& css) {
        std::vector<SvgPoint> line;
        for (const CampaignPoint& point : curve.points) {
            if (std::isfinite(point.result.node_hours.*which)) {
                line.push_back({x(point.value / unit), y(point.result.node_hours.*which)});
            }
        }
        svg.polyline(line, css);
    };
    draw(&campaign::Quantiles::p10, "curve v2");
    draw(&campaign::Quantiles::p90, "curve v2");
    draw(&campaign::Quantiles::p50, "curve v0");
    for (const CampaignPoint& point : curve.points) {
        if (std::isfinite(point.result.node_hours.p50)) {
            svg.marker({x(point.value / unit), y(point.result.node_hours.p50)}, 0, "mark v0",
                       point.text + ": " + thousands(point.result.node_hours.p50) + " node hours, over after " +
                           days(point.result.elapsed_s.p50));
        }
    }
    return std::move(svg).finish();
}

}  // namespace auspex::report
