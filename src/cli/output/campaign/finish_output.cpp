/// @file Campaigns of layouts in words.
#include "cli/output/campaign/finish_output.hpp"

#include <cmath>

#include "base/number_text.hpp"
#include "base/units.hpp"
#include "cli/output/campaign/quantiles_output.hpp"
#include "report/campaign/campaign_words.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::cli {

using report::count_words;
using report::span_words;

void write_plan_finish(JsonWriter& json, const report::PlanFinish& finish) {
    json.key("campaign").begin_object().key("finish_by").begin_object();
    write_quantiles(json, finish.elapsed_s);
    json.end_object().key("node_hours").begin_object();
    write_quantiles(json, finish.node_hours);
    json.end_object().member("goodput", finish.goodput).member("interruptions", finish.interruptions);
    json.member("nodes", finish.nodes).member_or_null("spares", finish.spares);
    json.member("checkpoint_every_steps", finish.every_steps).member("checkpoint_interval_s", finish.interval_s);
    json.member("checkpoint_bytes", whole(finish.checkpoint_bytes)).member("checkpoint_stall_s", finish.stall_s);
    json.key("notes").begin_array();
    for (const std::string& note : finish.notes) {
        json.value(note);
    }
    json.end_array().end_object();
}

void write_finishes(JsonWriter& json, const report::PlanFinishes& finishes) {
    const std::optional<double>& least = finishes.least_of_others_s;
    json.key("finish").begin_object().member("tokens", finishes.tokens).member("terms", finishes.terms);
    json.member("samples", finishes.samples).member("seed", finishes.seed).member("played", finishes.played);
    if (finishes.is_objective) {
        json.member_or_null("least_of_others_s", least && std::isfinite(*least) ? least : std::nullopt);
        json.member("certain", finishes.is_certain());
    }
    json.end_object();
}

void print_finishes(std::ostream& out, const report::PlanFinishes& finishes, const std::vector<std::string>& steps,
                    const std::vector<std::string>& lines) {
    std::vector<report::TextRow> rows = {
        {"over after", "10 %", "90 %", "node hours", "goodput", "checkpoint every", "step", "plan"}};
    for (std::size_t i = 0; i < finishes.plans.size(); ++i) {
        const report::PlanFinish& one = finishes.plans[i];
        rows.push_back({span_words(one.elapsed_s.p50), span_words(one.elapsed_s.p10), span_words(one.elapsed_s.p90),
                        count_words(one.node_hours.p50), percent(one.goodput, 1), span_words(one.interval_s), steps[i],
                        lines[i]});
    }
    out << report::text_table(rows, {7});
}

}  // namespace auspex::cli
