/// @file Best setting, gain, front.
#include "cli/output/campaign/optimum_output.hpp"

#include <cmath>

#include "base/number_text.hpp"
#include "base/units.hpp"
#include "cli/output/campaign/quantiles_output.hpp"
#include "report/campaign/campaign_words.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::cli {
namespace {

using report::count_words;
using report::span_words;

void write_point(JsonWriter& json, const report::OptimumPoint& point) {
    json.begin_object().member("nodes", point.nodes).member_or_null("spares", point.spares);
    json.member_or_null("walltime_s", point.walltime_s > 0 ? std::optional(point.walltime_s) : std::nullopt);
    json.member("steps", point.steps)
        .member("checkpoint_every_steps", point.every_steps)
        .member("checkpoint_interval_s", point.interval_s);
    json.key("finish_by").begin_object();
    write_quantiles(json, point.elapsed_s);
    json.end_object().key("node_hours").begin_object();
    write_quantiles(json, point.node_hours);
    json.end_object().member("goodput", point.goodput).end_object();
}

void write_interval(JsonWriter& json, const char* name, const Interval& interval) {
    json.key(name).begin_array().value(interval.low).value(interval.high).end_array();
}

void write_gain(JsonWriter& json, const std::optional<campaign::Gain>& gain) {
    if (!gain) {
        json.member_or_null("gain", std::optional<double>());
        return;
    }
    json.key("gain").begin_object().member("finish_s", gain->elapsed_s.value());
    write_interval(json, "finish_interval_s", gain->elapsed_s.saved);
    json.member("node_hours", gain->node_hours.value());
    write_interval(json, "node_hours_interval", gain->node_hours.saved);
    json.end_object();
}

}  // namespace

void write_optimum(JsonWriter& json, const report::CampaignOptimum& optimum) {
    const report::OptimumPoint& best = optimum.points[optimum.best];
    json.key("optimum").begin_object().member("objective", optimum.objective).key("varied").begin_array();
    for (const std::string& what : optimum.varied) {
        json.value(what);
    }
    json.end_array().member("settings", optimum.settings).member("left_out", optimum.left_out);
    json.member("played", optimum.played).key("best");
    write_point(json, best);
    json.key("at_edge").begin_array();
    for (const report::SearchEdge& edge : optimum.at_edge) {
        json.begin_object().member("what", edge.what).member("value", edge.value);
        json.member("side", edge.is_upper ? "upper" : "lower").end_object();
    }
    json.end_array();
    write_gain(json, optimum.gain);
    json.key("front").begin_array();
    for (const report::OptimumPoint& point : optimum.points) {
        if (point.is_on_front) {
            write_point(json, point);
        }
    }
    json.end_array().end_object();
}

void print_optimum(std::ostream& out, const report::CampaignOptimum& optimum) {
    out << "\n  best setting    by " << (optimum.objective == "finish-by" ? "finish" : "node hours") << ": "
        << optimum_sentence(optimum) << "\n                  " << thousands(static_cast<double>(optimum.settings))
        << " settings, " << thousands(static_cast<double>(optimum.played))
        << " campaigns played: few of all, more of those that lead, all of the last " << optimum.points.size() << "\n";
    if (!optimum.at_edge.empty()) {
        out << "                  " << report::edge_sentence(optimum) << "\n";
    }
    if (optimum.left_out > 0) {
        out << "                  " << optimum.left_out
            << " settings cannot be played, the first: " << optimum.why_left_out << "\n";
    }
    std::vector<report::TextRow> rows = {
        {"front: setting", "over after", "90 %", "node hours", "goodput", "checkpoint every", "steps"}};
    for (const report::OptimumPoint& point : optimum.points) {
        if (point.is_on_front) {
            rows.push_back({setting_words(point), span_words(point.elapsed_s.p50), span_words(point.elapsed_s.p90),
                            count_words(point.node_hours.p50), percent(point.goodput, 2), span_words(point.interval_s),
                            count_words(static_cast<double>(point.steps))});
        }
    }
    out << "\n" << report::text_table(rows, {0});
}

}  // namespace auspex::cli
