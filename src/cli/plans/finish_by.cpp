/// @file Campaigns of the finalists of a search.
#include "cli/plans/finish_by.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "cli/campaigns/predicted_setting.hpp"
#include "cli/flags/flag_values.hpp"
#include "sim/search/plan_search.hpp"

namespace auspex::cli {
namespace {

std::string time_text(double seconds) { return format_quantity(seconds, Dimension::kSeconds); }

/// "blocks of 24 h, 12 h of queue between them, 10 spare nodes".
std::string terms_of(const CampaignFlags& flags, const report::PlanFinish& first) {
    std::string terms = flags.walltime_s > 0 ? "blocks of " + time_text(flags.walltime_s) : "no blocks";
    if (flags.queue_wait_s) {
        terms += ", " + time_text(*flags.queue_wait_s) + " of queue before each but the first";
    }
    if (flags.auto_spares) {
        return terms + ", as many spare nodes as are needed";
    }
    return terms + (first.spares ? ", " + counted(*first.spares, "spare node") : ", always another node at hand");
}

report::PlanFinish finish_of(const CampaignCase& one, const campaign::Result& result) {
    const campaign::Setting& s = one.setting;
    report::PlanFinish finish;
    finish.elapsed_s = result.elapsed_s;
    finish.node_hours = result.node_hours;
    finish.goodput = result.goodput;
    finish.interruptions = result.interruptions.mean;
    finish.every_steps = s.checkpoints.every_steps;
    finish.interval_s = static_cast<double>(s.checkpoints.every_steps) * s.step_s;
    finish.nodes = s.nodes.count;
    finish.spares = s.nodes.spares;
    finish.checkpoint_bytes = one.run->checkpoint_bytes;
    finish.stall_s = s.checkpoints.stall_s;
    finish.notes = one.notes;
    return finish;
}

}  // namespace

bool ranks_by_finish(const Options& options) { return options.search.objective == "finish-by"; }

bool plays_runs(const Options& options, const models::Machine& machine) {
    return options.tokens > 0 && machine.cpu.cores == 0;
}

void check_finish_flags(const Options& options, const models::Machine& machine) {
    const CampaignFlags& flags = options.campaign;
    if (ranks_by_finish(options) && options.tokens == 0) {
        throw InputError("--objective",
                         "found finish-by without --tokens; expected both: what is to be trained, such as 1T");
    }
    if (ranks_by_finish(options) && machine.cpu.cores > 0) {
        throw InputError("--objective", "found finish-by with machine " + machine.name +
                                            ", a computer whose ranks share its cores; expected a machine of "
                                            "accelerators");
    }
    if (ranks_by_finish(options) && !options.search.vary.empty()) {
        throw InputError("--objective", "found finish-by with --vary, which compares steps; expected one of them");
    }
    check_without(flags, {"dual", "async", "scattered", "persistent", "buffer", "final-save"});
    const bool is_one_search =
        options.tiles.size() == 1 && options.search.vary.empty() && options.search.deadline_s == 0;
    if (ranks_by_finish(options) || (is_one_search && plays_runs(options, machine))) {
        CampaignCase trial;  // what of the flags contradicts is said before the search
        trial.setting.steps = 1;
        trial.setting.step_s = 1e-6;
        apply_campaign_flags(flags, trial);
        return;
    }
    refuse_given({{"--mtbf", flags.mtbf_s > 0},
                  {"--stall", flags.stall_s.has_value()},
                  {"--write", flags.write_s.has_value()},
                  {"--restart", flags.restart_s.has_value()},
                  {"--checkpoint-every", flags.checkpoint_every.has_value()},
                  {"--spares", flags.spares.has_value() || flags.auto_spares},
                  {"--replenish", flags.replenish_s > 0},
                  {"--swap", flags.swap_s.has_value()},
                  {"--failed-starts", flags.failed_start_share.has_value()},
                  {"--walltime", flags.walltime_s > 0},
                  {"--queue-wait", flags.queue_wait_s.has_value()},
                  {"--maintenance", flags.maintenance_s > 0},
                  {"--without", !flags.without.empty()}},
                 "found where no run is played; expected --tokens with it, and one size of a job or --objective "
                 "finish-by");
}

FinishPlayer::FinishPlayer(const Options& options)
    : options_(options), samples_{options.campaign.samples, options.seed.value_or(1)}, intervals_(samples_) {}

report::PlanFinish FinishPlayer::play(const models::Inputs& inputs, const predict::Prediction& prediction) {
    CampaignCase one = predicted_setting(options_, inputs, prediction);
    intervals_.settle(one);
    return finish_of(one, campaign::play_campaign(one.setting, samples_));
}

report::PlanFinish FinishPlayer::play_least(const models::Inputs& inputs, const predict::Prediction& prediction,
                                            double step_s) {
    predict::Prediction least = prediction;
    const double ratio = step_s / prediction.step_time_s;
    least.step_time_s = step_s;
    for (Interval* const interval : {&least.step_time_interval_s, &least.step_time_interval_with_spread_s}) {
        *interval = {interval->low * ratio, interval->high * ratio};
    }
    least.dp = 1;  // one copy of the model, over all nodes: nothing is read twice or handed on
    return play(inputs, least);
}

bool ends_before(const report::PlanFinish& one, const report::PlanFinish& other) {
    return std::pair(one.elapsed_s.p50, one.node_hours.p50) < std::pair(other.elapsed_s.p50, other.node_hours.p50);
}

report::PlanFinishes play_finalists(const Options& options, const models::Inputs& inputs,
                                    const search::SearchResult& result, std::vector<search::RankedPlan>& ranked,
                                    const FinishProgress& progress) {
    FinishPlayer player(options);
    report::PlanFinishes all;
    all.tokens = options.tokens;
    all.samples = options.campaign.samples;
    all.seed = options.seed.value_or(1);
    all.is_objective = ranks_by_finish(options);
    all.played = all.is_objective ? ranked.size() : 1;
    std::vector<report::PlanFinish> played;
    for (std::size_t i = 0; i < all.played; ++i) {
        progress(i, all.played);
        models::Inputs own = inputs;
        own.plan = ranked[i].plan;
        played.push_back(player.play(own, ranked[i].prediction));
    }
    all.terms = terms_of(options.campaign, played.front());
    if (!all.is_objective) {
        all.plans = std::move(played);
        return all;
    }
    all.was_cut = result.was_cut;
    if (!result.was_cut && result.space > ranked.size()) {
        const double step_s = ranked.back().prediction.step_time_s;
        all.least_of_others_s = player.play_least(inputs, ranked.front().prediction, step_s).elapsed_s.p50;
    }
    std::vector<std::size_t> order(ranked.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return ends_before(played[a], played[b]); });
    const std::size_t shown =
        options.search.top > 0 ? static_cast<std::size_t>(options.search.top) : search::SearchOptions().top;
    order.resize(std::min(order.size(), shown));
    std::vector<search::RankedPlan> best;
    for (const std::size_t i : order) {
        best.push_back(std::move(ranked[i]));
        all.plans.push_back(played[i]);
        judge(best.back(), best.front());
    }
    ranked = std::move(best);
    return all;
}

}  // namespace auspex::cli
