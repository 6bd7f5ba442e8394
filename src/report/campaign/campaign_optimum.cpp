/// @file Finish against node-hours, in a picture and a table.
#include "report/campaign/campaign_optimum.hpp"

#include <algorithm>
#include <cmath>

#include "base/number_text.hpp"
#include "base/units.hpp"
#include "report/campaign/campaign_words.hpp"
#include "report/campaign/finish_plane.hpp"
#include "report/parts/page.hpp"
#include "report/parts/picture.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kDay = 86'400;

bool ends(const OptimumPoint& point) { return std::isfinite(point.elapsed_s.p50); }

/// "9 h less (-7.1 %, 95 %: -9.0 to -5.2 %)", "as much" of a time or a count.
std::string change_words(const campaign::Saving& of, const std::string& size) {
    if (std::abs(of.value()) <= 1e-9 * std::abs(of.from)) {
        return "as much";
    }
    const auto change = [&of](double saved) { return signed_percent(-saved / of.from); };
    return size + (of.value() > 0 ? " less" : " more") + " (" + change(of.value()) +
           ", 95 %: " + change(of.saved.high) + " to " + change(of.saved.low) + ")";
}

std::string optimum_table(const CampaignOptimum& optimum) {
    TableRows rows{{{"setting"},
                    {"over after (median)", "n"},
                    {"90 %", "n"},
                    {"node hours (median)", "n"},
                    {"goodput", "n"},
                    {"checkpoint every", "n"},
                    {"steps", "n"}}};
    for (const OptimumPoint& point : optimum.points) {
        if (point.is_on_front && ends(point)) {
            rows.push_back({{setting_words(point)},
                            number_of(span_words(point.elapsed_s.p50), point.elapsed_s.p50),
                            number_of(span_words(point.elapsed_s.p90), std::min(point.elapsed_s.p90, 1e300)),
                            number_of(count_words(point.node_hours.p50), point.node_hours.p50),
                            number_of(percent(point.goodput, 2), point.goodput),
                            number_of(span_words(point.interval_s), point.interval_s),
                            number_of(thousands(static_cast<double>(point.steps)), static_cast<double>(point.steps))});
        }
    }
    return html_table(rows, "The front: no other setting is over before with no more node-hours.");
}

}  // namespace

std::string setting_words(const OptimumPoint& point) {
    return counted(point.nodes, "node") + ", " +
           (point.spares ? counted(*point.spares, "spare") : "another node always at hand") +
           (point.walltime_s > 0 ? ", blocks of " + format_quantity(point.walltime_s, Dimension::kSeconds) : "");
}

std::string optimum_sentence(const CampaignOptimum& optimum) {
    const OptimumPoint& best = optimum.points[optimum.best];
    if (!ends(best)) {
        return "None of the settings ends";
    }
    std::string out = setting_words(best) + ", a checkpoint every " + span_words(best.interval_s) + ": over after " +
                      span_words(best.elapsed_s.p50) + ", " + count_words(best.node_hours.p50) + " node hours";
    if (!optimum.gain) {
        return out + (ends(optimum.given) ? "; too few of its samples end to say what it gains"
                                          : "; as given it does not end");
    }
    const campaign::Saving &time = optimum.gain->elapsed_s, &hours = optimum.gain->node_hours;
    return out + "; against what was given, on other samples: time " +
           change_words(time, span_words(std::abs(time.value()))) + ", node hours " +
           change_words(hours, count_words(std::abs(hours.value())));
}

std::string edge_sentence(const CampaignOptimum& optimum) {
    std::string out = "The best has ";
    for (const SearchEdge& edge : optimum.at_edge) {
        const bool is_first = &edge == &optimum.at_edge.front();
        const bool is_time = edge.what == "walltime";
        out += std::string(is_first ? "the " : " and the ") +
               (is_time ? (edge.is_upper ? "longest" : "shortest") : (edge.is_upper ? "most" : "fewest")) + " " +
               (is_time ? "blocks" : edge.what) + " (" +
               (is_time ? format_quantity(edge.value, Dimension::kSeconds) : thousands(edge.value)) + ")";
    }
    return out + " that were searched: a better one may lie beyond";
}

std::string optimum_chart(const CampaignOptimum& optimum, double width) {
    std::vector<const OptimumPoint*> points;
    for (const OptimumPoint& point : optimum.points) {
        if (ends(point)) {
            points.push_back(&point);
        }
    }
    if (ends(optimum.given)) {
        points.push_back(&optimum.given);
    }
    const auto day = [](const OptimumPoint* point) { return point->elapsed_s.p50 / kDay; };
    const auto hours = [](const OptimumPoint* point) { return point->node_hours.p50; };
    const auto [soonest, latest] = std::ranges::minmax(points, {}, day);
    const auto [least, most] = std::ranges::minmax(points, {}, hours);
    const FinishPlane plane = finish_plane(width, {day(soonest), day(latest), hours(least), hours(most)});
    Svg svg(width, plane.frame.bottom + kBelowAxis, "Finish against node hours",
            "medians of settings; the line is the front");
    draw_finish_axes(svg, plane);
    std::vector<SvgPoint> stairs;
    for (const OptimumPoint* const point : points) {
        const SvgPoint at{plane.x(day(point)), plane.y(hours(point))};
        const bool is_given = point == &optimum.given;
        if (point->is_on_front && !is_given) {
            add_stair(stairs, at);
        }
        svg.marker(at, is_given ? 3 : 0,
                   is_given             ? "given-mark"
                   : point->is_on_front ? "mark v0"
                                        : "mark v2",
                   setting_words(*point) + ": over after " + span_words(point->elapsed_s.p50) + ", " +
                       count_words(point->node_hours.p50) + " node hours");
    }
    svg.polyline(stairs, "front");
    const OptimumPoint& best = optimum.points[optimum.best];
    svg.text({plane.x(day(&best)) + 8, plane.y(hours(&best)) - 8}, "the best", "label v0");
    if (ends(optimum.given)) {
        svg.text({plane.x(day(&optimum.given)) + 8, plane.y(hours(&optimum.given)) - 8}, "as given", "limit-text");
    }
    return std::move(svg).finish();
}

std::string optimum_section(const CampaignOptimum& optimum, const std::string& source) {
    if (!ends(optimum.points[optimum.best])) {
        return html_paragraph(optimum_sentence(optimum) + ".");
    }
    return html_paragraph(optimum_sentence(optimum) + ".") +
           (optimum.at_edge.empty() ? "" : html_paragraph(edge_sentence(optimum) + ".", "bad")) +
           html_figure(picture_of([&](double width) { return optimum_chart(optimum, width); }),
                       {"What a finish costs",
                        "A mark is a setting with the interval that is best for it; the line is the front, on which no "
                        "other is over before with no more node hours.",
                        source}) +
           optimum_table(optimum) +
           html_paragraph(counted(static_cast<double>(optimum.settings), "setting") + " of " +
                              counted(static_cast<double>(optimum.varied.size()), "number") + " together, " +
                              thousands(static_cast<double>(optimum.played)) + " campaigns in three rounds.",
                          "note");
}

}  // namespace auspex::report
