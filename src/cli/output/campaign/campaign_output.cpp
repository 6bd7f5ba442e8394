/// @file What a campaign's answer says, as JSON and as text.
#include "cli/output/campaign/campaign_output.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/number_text.hpp"
#include "base/units.hpp"
#include "campaign/player.hpp"
#include "cli/output/campaign/campaign_words.hpp"
#include "cli/output/campaign/optimum_output.hpp"
#include "cli/output/campaign/quantiles_output.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::cli {
namespace {

using report::count_words;
using report::span_words;

std::optional<double> finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

void write_sources(JsonWriter& json, const CampaignAnswer& a) {
    json.key("interruptions").begin_object();
    write_quantiles(json, a.result.interruptions);
    json.key("by_cause").begin_object();
    for (std::size_t i = 0; i < a.setting.failures.size(); ++i) {
        json.member(a.setting.failures[i].component, a.result.sources[i].interruptions);
    }
    json.end_object().key("lost_to").begin_object();
    for (std::size_t i = 0; i < a.setting.failures.size(); ++i) {
        json.member(a.setting.failures[i].component, a.result.sources[i].lost_share);
    }
    json.end_object().end_object();
}

void write_closed_forms(JsonWriter& json, const campaign::Agreement& forms, const campaign::ExpectedFinish& whole_run) {
    json.key("closed_forms").begin_object();
    json.member("mtbf_s", forms.run.mtbf_s).member("restart_s", forms.run.restart_s);
    json.member("young_interval_s", forms.young_s).member("daly_interval_s", forms.daly_s);
    json.member("exact_interval_s", forms.exact_s).member("exact_efficiency", forms.exact_efficiency);
    json.member_or_null("expected_finish_s", finite(forms.expected_elapsed_s));
    json.member_or_null("played_finish_s", finite(forms.played_elapsed_s));
    json.member_or_null("played_error_s", finite(forms.error_s)).member("agrees", forms.agrees);
    json.member_or_null("spare_quantile_p99", forms.spare_quantile).key("broken_assumptions").begin_array();
    for (const std::string& what : forms.broken) {
        json.value(what);
    }
    json.end_array().key("whole_run").begin_object();
    json.member_or_null("finish_s", finite(whole_run.elapsed_s));
    json.member_or_null("node_hours", finite(whole_run.node_hours));
    json.member("goodput", whole_run.goodput).member("interruptions", whole_run.interruptions);
    json.key("left_out").begin_array();
    for (const std::string& what : whole_run.left_out) {
        json.value(what);
    }
    json.end_array().end_object().end_object();
}

void write_run(JsonWriter& json, const PredictedRun& run) {
    json.member("machine", run.machine).member("stack", run.stack).member("workload", run.workload);
    json.member("plan", run.plan).key("overrides").begin_array();
    for (const std::string& text : run.overrides) {
        json.value(text);
    }
    json.end_array().member("tiles", run.tiles).member("tokens_per_step", run.tokens_per_step);
    json.member_or_null("tokens", run.tokens > 0 ? std::optional(run.tokens) : std::nullopt);
    json.key("step_time_interval_s").begin_array().value(run.interval_s.low).value(run.interval_s.high).end_array();
}

void write_checkpoint(JsonWriter& json, const CampaignAnswer& a) {
    const campaign::Checkpoints& c = a.setting.checkpoints;
    json.key("checkpoint").begin_object().member("stall_s", c.stall_s).member("write_s", c.write_s);
    json.member("copies", c.copies);
    if (a.run) {
        json.member("bytes", whole(a.run->checkpoint_bytes)).member("model_bytes", whole(a.run->model_bytes));
    }
    json.end_object().key("recovery").begin_object();
    const campaign::Recovery& r = a.setting.recovery;
    json.member("swap_s", r.swap_s).member("environment_s", r.environment_s).member("restart_s", r.restart_s);
    json.member("initialise_s", r.initialise_s).member("load_s", r.load_s).member("watchdog_s", r.watchdog_s);
    json.member("failed_start_share", r.failed_start_share).end_object();
}

void write_worth(JsonWriter& json, const std::vector<report::FeatureWorth>& worth) {
    json.key("worth").begin_object();
    for (const report::FeatureWorth& one : worth) {
        json.key(one.feature).begin_object().member_or_null("node_hours", finite(one.node_hours));
        json.member_or_null("elapsed_s", finite(one.elapsed_s)).end_object();
    }
    json.end_object();
}

void write_curve(JsonWriter& json, const report::CampaignCurve& curve) {
    json.key("curve").begin_object().member("what", curve.what).key("points").begin_array();
    for (const report::CampaignPoint& point : curve.points) {
        json.begin_object().member("value", point.value).member("goodput", point.result.goodput);
        json.key("finish_by").begin_object();
        write_quantiles(json, point.result.elapsed_s);
        json.end_object().key("node_hours").begin_object();
        write_quantiles(json, point.result.node_hours);
        json.end_object().end_object();
    }
    json.end_array().end_object();
}

void print_curve(std::ostream& out, const report::CampaignCurve& curve) {
    std::vector<report::TextRow> rows = {{curve.what, "over after", "90 %", "node hours", "goodput"}};
    for (const report::CampaignPoint& point : curve.points) {
        rows.push_back({point.text, span_words(point.result.elapsed_s.p50), span_words(point.result.elapsed_s.p90),
                        count_words(point.result.node_hours.p50), percent(point.result.goodput, 2)});
    }
    out << "\n" << report::text_table(rows, {0});
}

void write_dates(JsonWriter& json, const CampaignAnswer& a) {
    if (a.deadline_s) {
        json.member("deadline_s", *a.deadline_s).member("share_by_deadline", share_by(a.result, *a.deadline_s));
    }
    if (!a.start.empty()) {
        json.member("start", a.start).key("finish_date").begin_object();
        for (const auto& [key, value] : {std::pair("p10", a.result.elapsed_s.p10),
                                         {"p50", a.result.elapsed_s.p50},
                                         {"p90", a.result.elapsed_s.p90}}) {
            const auto date = finite(value) ? std::optional(date_after(a.start, value)) : std::nullopt;
            json.member_or_null(key, date);
        }
        json.end_object();
    }
}

void print_times(std::ostream& out, const CampaignAnswer& a) {
    const campaign::Quantiles& by = a.result.elapsed_s;
    const double work_s = static_cast<double>(a.setting.steps) * a.setting.step_s;
    out << "  finish by       " << span_words(by.p50) << " (median)   " << span_words(by.p10) << " (10 %)   "
        << span_words(by.p90) << " (90 %)   steps alone " << span_words(work_s) << "\n";
    if (!a.start.empty() && std::isfinite(by.p90)) {
        out << "                  " << date_after(a.start, by.p50) << "            " << date_after(a.start, by.p10)
            << "        " << date_after(a.start, by.p90) << "          from " << a.start << " on\n";
    }
    if (a.deadline_s) {
        out << "  deadline        " << percent(share_by(a.result, *a.deadline_s)) << " of campaigns are over within "
            << span_words(*a.deadline_s) << "\n";
    }
    out << "  node hours      " << count_words(a.result.node_hours.p50) << " (median)   "
        << count_words(a.result.node_hours.p10) << " (10 %)   " << count_words(a.result.node_hours.p90) << " (90 %)\n";
}

void print_shares(std::ostream& out, const CampaignAnswer& a) {
    out << "  goodput         " << percent(a.result.goodput, 2) << " of the time is steps that were not done before\n";
    constexpr double kLeast = 5e-5;  // 0.01 %, rounded
    std::vector<std::size_t> kinds;
    double rest = 0;
    for (std::size_t i = 1; i < campaign::kSpentCount; ++i) {
        if (a.result.shares[i] >= kLeast) {
            kinds.push_back(i);
        } else {
            rest += a.result.shares[i];
        }
    }
    std::ranges::sort(kinds, std::greater(), [&](std::size_t i) { return a.result.shares[i]; });
    const char* head = "  badput          ";
    for (const std::size_t i : kinds) {
        out << head << percent(a.result.shares[i], 2) << " " << words_of(static_cast<campaign::Spent>(i)) << "\n";
        head = "                  ";
    }
    if (rest >= kLeast) {
        out << head << percent(rest, 2) << " all else\n";
    }
}

void print_sources(std::ostream& out, const CampaignAnswer& a) {
    const campaign::Quantiles& count = a.result.interruptions;
    out << "  interruptions   " << significant(count.mean) << " in the mean, " << significant(count.p10) << " to "
        << significant(count.p90) << "\n";
    std::vector<std::size_t> order(a.setting.failures.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::ranges::sort(order, std::greater(), [&](std::size_t i) { return a.result.sources[i].interruptions; });
    for (const std::size_t i : order) {
        out << "                  " << significant(a.result.sources[i].interruptions) << " "
            << a.setting.failures[i].cause << ", which cost " << percent(a.result.sources[i].lost_share, 2)
            << " of the time\n";
    }
}

void print_worth(std::ostream& out, const CampaignAnswer& a) {
    const char* head = "\n  more without    ";
    for (const report::FeatureWorth& one : a.worth) {
        out << head << one.feature << ": " << count_words(one.node_hours) << " node hours, "
            << (one.elapsed_s < 0 ? "-" : "") << span_words(std::abs(one.elapsed_s)) << "\n";
        head = "                  ";
    }
}

void print_closed_forms(std::ostream& out, const CampaignAnswer& a) {
    const campaign::Agreement& forms = *a.closed_forms;
    out << "\n  closed forms    interval: Young " << span_words(forms.young_s) << ", Daly " << span_words(forms.daly_s)
        << ", exact " << span_words(forms.exact_s) << "; goodput " << percent(forms.exact_efficiency, 2) << "\n";
    out << "                  finish " << span_words(forms.expected_elapsed_s) << " expected, "
        << (std::isfinite(forms.played_elapsed_s)
                ? span_words(forms.played_elapsed_s) + " +- " + span_words(forms.error_s)
                : std::string("no end"))
        << " played: " << (forms.agrees ? "they agree" : "they differ") << "\n";
    for (const std::string& what : forms.broken) {
        out << "                  not in the closed form: " << what << "\n";
    }
    if (!forms.agrees && forms.broken.empty()) {
        out << "                  by more than chance, and no assumption is known to be broken\n";
    }
    const campaign::ExpectedFinish whole_run = campaign::expected_finish(a.setting);
    if (!forms.agrees && std::isfinite(whole_run.elapsed_s) && std::isfinite(forms.played_elapsed_s)) {
        out << "                  " << report::whole_run_words(whole_run, forms.played_elapsed_s) << "\n";
    }
    if (forms.spare_quantile) {
        out << "                  spare nodes by the binomial quantile (99 %): " << *forms.spare_quantile << "\n";
    }
}

}  // namespace

void write_campaign(JsonWriter& json, const CampaignAnswer& a) {
    const campaign::Result& r = a.result;
    const campaign::Setting& s = a.setting;
    if (a.run) {
        write_run(json, *a.run);
    }
    json.member("steps", s.steps).member("step_s", s.step_s).member("prepare_s", s.prepare_s);
    json.member("nodes", s.nodes.count);
    json.member_or_null("spares", s.nodes.spares);
    json.member("checkpoint_every_steps", s.checkpoints.every_steps);
    json.member("checkpoint_interval_s", static_cast<double>(s.checkpoints.every_steps) * s.step_s);
    write_checkpoint(json, a);
    json.key("finish_by").begin_object();
    write_quantiles(json, r.elapsed_s);
    json.end_object().key("node_hours").begin_object();
    write_quantiles(json, r.node_hours);
    json.end_object().member("goodput", r.goodput).key("badput").begin_object();
    for (std::size_t i = 1; i < campaign::kSpentCount; ++i) {
        json.member(key_of(static_cast<campaign::Spent>(i)), r.shares[i]);
    }
    json.end_object();
    write_sources(json, a);
    json.member_or_null("checkpoint_interval_optimum_s", a.best ? std::optional(a.best->interval_s) : std::nullopt);
    json.member_or_null("checkpoint_interval_optimum_steps", a.best ? std::optional(a.best->steps) : std::nullopt);
    json.member("spares_needed_p99", r.spares_needed_p99);
    json.member("checkpoints", r.checkpoints).member("blocks", r.blocks).member("requeues", r.requeues);
    json.member("lost_steps", r.lost_steps).member("given_up", r.given_up);
    json.member("ends_corrupt", r.ends_corrupt);
    write_dates(json, a);
    if (a.closed_forms) {
        write_closed_forms(json, *a.closed_forms, campaign::expected_finish(a.setting));
    }
    if (a.run) {
        write_worth(json, a.worth);
    }
    if (a.curve) {
        write_curve(json, *a.curve);
    }
    if (a.optimum) {
        write_optimum(json, *a.optimum);
    }
    json.member("samples", r.samples).member("seed", a.seed).key("notes").begin_array();
    for (const std::string& note : a.notes) {
        json.value(note);
    }
    json.end_array().member("elapsed_s", a.elapsed_s);
}

void print_campaign(std::ostream& out, const CampaignAnswer& a, const std::string& title) {
    const campaign::Checkpoints& c = a.setting.checkpoints;
    out << title << "; " << counted(a.result.samples, "campaign") << " played\n";
    out << "a checkpoint every " << counted(static_cast<double>(c.every_steps), "step") << " ("
        << span_words(static_cast<double>(c.every_steps) * a.setting.step_s) << "), which stalls for "
        << span_words(c.stall_s) << (c.write_s > 0 ? " and is written in " + span_words(c.write_s) : "") << "\n";
    out << (a.setting.prepare_s > 0
                ? "an index of the run's data is built once, in " + span_words(a.setting.prepare_s) + "\n"
                : "")
        << "\n";
    print_times(out, a);
    print_shares(out, a);
    print_sources(out, a);
    if (a.best) {
        out << "  best interval   " << span_words(a.best->interval_s) << " ("
            << counted(static_cast<double>(a.best->steps), "step") << ")\n";
    }
    if (a.result.ends_corrupt > 0) {
        out << "  wrong numbers   are in the model at the end of " << percent(a.result.ends_corrupt, 2)
            << " of campaigns, and nobody has found them yet: these count as done\n";
    }
    const double window_s = campaign::spare_window_s(a.setting);
    out << "  spares needed   " << counted(static_cast<double>(a.result.spares_needed_p99), "node") << " for 99 % of "
        << (window_s > 0 ? "times of " + span_words(window_s) : "campaigns, as no failed node comes back") << "\n";
    print_worth(out, a);
    if (a.curve) {
        print_curve(out, *a.curve);
    }
    if (a.optimum) {
        print_optimum(out, *a.optimum);
    }
    if (a.closed_forms) {
        print_closed_forms(out, a);
    }
    out << (a.notes.empty() ? "" : "\n");
    for (const std::string& note : a.notes) {
        out << "  note: " << note << "\n";
    }
}

}  // namespace auspex::cli
