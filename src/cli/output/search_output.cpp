/// @file The best plans, why the others are behind, and what memory shut out.
#include "cli/output/search_output.hpp"

#include <algorithm>
#include <iostream>

#include "base/json_writer.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "cli/output/campaign/finish_output.hpp"
#include "cli/output/choice_output.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/plan_output.hpp"
#include "cli/output/prediction_output.hpp"
#include "report/plans/plan_page.hpp"
#include "report/plans/search_words.hpp"
#include "report/scaling/spread_words.hpp"
#include "report/scaling/story.hpp"

namespace auspex::cli {
namespace {

std::string bytes_text(double bytes) { return format_quantity(bytes, Dimension::kBytes); }

void write_candidate(JsonWriter& json, const models::Inputs& inputs, const search::Candidate& candidate) {
    json.key("plan").begin_object();
    write_plan(json, plan_of(candidate, inputs.plan));
    json.end_object();
}

void write_changes(JsonWriter& json, const char* key, const std::vector<search::LossChange>& changes) {
    json.key(key).begin_object();
    for (const search::LossChange& one : changes) {
        json.member(to_string(one.loss), one.seconds);
    }
    json.end_object();
}

/// Members of the open object.
void write_ranked(JsonWriter& json, const search::RankedPlan& one, const search::RankedPlan& best,
                  double capacity_bytes) {
    const predict::Prediction& p = one.prediction;
    json.key("plan").begin_object();
    write_plan(json, one.plan);
    json.end_object().member("step_time_s", p.step_time_s).key("step_time_interval_s").begin_array();
    json.value(p.step_time_interval_s.low).value(p.step_time_interval_s.high).end_array();
    json.member("bound_s", one.evaluated.bound_s).member("tokens_per_s", p.tokens_per_s).member("mfu", p.mfu);
    json.member("memory_peak_bytes", whole(p.memory.peak_bytes));
    json.member("memory_headroom_bytes", whole(capacity_bytes - p.memory.peak_bytes));
    json.key("losses").begin_object();
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        json.member(to_string(static_cast<schedule::Loss>(loss)), to_seconds(p.losses[loss]));
    }
    json.end_object().member("behind_best", one.lead.ratio - 1).key("behind_best_interval").begin_array();
    json.value(one.lead.interval.low - 1).value(one.lead.interval.high - 1).end_array();
    json.member("probability_faster", one.lead.probability_faster);
    json.member("within_uncertainty", one.lead.is_within_uncertainty());
    if (p.run_tokens > 0) {
        json.member("run_time_s", p.run_time_s).member("node_hours", p.node_hours);
    }
    write_changes(json, "more_of_s", one.behind);
    json.key("differs_from_best").begin_object();
    for (const PlanDifference& difference : plan_differences(one.plan, best.plan)) {
        json.member(difference.field, difference.value);
    }
    json.end_object();
}

void write_given(JsonWriter& json, const FoundPlans& found) {
    if (!found.given) {
        return;
    }
    json.key("given").begin_object().member("in_space", found.given->why_not.empty());
    if (found.given->why_not.empty()) {
        write_ranked(json, found.given->ranked, found.ranked.front(), found.result.capacity_bytes);
        write_faster(json, *found.given);
    } else {
        json.member("why_not", found.given->why_not);
    }
    json.end_object();
}

void write_what_fits(JsonWriter& json, const char* key, const models::Inputs& inputs,
                     const std::optional<search::EvaluatedPlan>& plan) {
    if (!plan) {
        return;
    }
    json.key(key).begin_object();
    write_candidate(json, inputs, plan->candidate);
    json.member("step_time_s", to_seconds(plan->step)).member("memory_peak_bytes", whole(plan->memory_peak_bytes));
    json.end_object();
}

void write_room(JsonWriter& json, const search::MemoryRoom& room) {
    json.key("memory_room").begin_object().member("free_share", room.free_share).member("tight", room.is_tight());
    json.member("wanted_share", search::kMemoryRoom);
    const auto if_there = [&room](double value) { return room.roomier ? std::optional(value) : std::nullopt; };
    json.member_or_null("roomier", room.roomier ? std::optional(static_cast<int>(*room.roomier)) : std::nullopt);
    json.member_or_null("roomier_behind_best", if_there(room.behind)).end_object();
}

void write_shut_out(JsonWriter& json, const models::Inputs& inputs, const search::ShutOutPlans& shut_out) {
    json.key("shut_out_by_memory").begin_object().member("played", shut_out.played);
    json.member("more_possible", shut_out.are_more_possible).key("plans").begin_array();
    for (const search::ShutOut& one : shut_out.fastest) {
        json.begin_object();
        write_candidate(json, inputs, one.plan.candidate);
        json.member("step_time_s", to_seconds(one.plan.step));
        json.member("memory_peak_bytes", whole(one.plan.memory_peak_bytes));
        json.member("excess_bytes", whole(one.excess_bytes));
        write_what_fits(json, "fits_by_recompute", inputs, one.by_recompute);
        write_what_fits(json, "fits_by_other_field", inputs, one.by_other_field);
        json.end_object();
    }
    json.end_array().end_object();
}

/// "120 ms bubble"; with a sign where it is a difference.
std::string loss_text(const search::LossChange& one, const char* sign) {
    return sign + duration(one.seconds) + " " + to_string(one.loss);
}

/// What the best one's step is made of, and what it leans on.
void print_what_binds(const search::RankedPlan& best, double capacity_bytes) {
    constexpr std::size_t kShown = 3;
    const predict::Prediction& p = best.prediction;
    constexpr auto kUseful = static_cast<std::size_t>(schedule::Loss::kUsefulCompute);
    std::cout << "What binds it: " << percent(to_seconds(p.losses[kUseful]) / p.step_time_s) << " of the step is "
              << report::plain_name(schedule::Loss::kUsefulCompute);
    const std::vector<search::LossChange> losses = search::binding_losses(p);
    for (std::size_t i = 0; i < std::min(losses.size(), kShown); ++i) {
        std::cout << ", " << percent(losses[i].seconds / p.step_time_s) << " " << report::plain_name(losses[i].loss);
    }
    if (!p.top_constants.empty()) {
        const predict::ConstantSensitivity& first = p.top_constants.front();
        std::cout << "; 1 % more of " << first.constant.path << " changes it by "
                  << signed_significant(first.elasticity, 2) << " %";
    }
    std::cout << "; " << bytes_text(capacity_bytes - p.memory.peak_bytes) << " of memory are free.\n";
}

std::string what_fits_text(const models::Inputs& inputs, const search::EvaluatedPlan& from,
                           const search::EvaluatedPlan& to, const search::RankedPlan& best) {
    const double behind = to_seconds(to.step) / best.prediction.step_time_s - 1;
    return differences_line(plan_of(to.candidate, inputs.plan), plan_of(from.candidate, inputs.plan)) + ": " +
           duration(to_seconds(to.step)) +
           (to.step == best.evaluated.step ? ", the best one's step" : ", " + signed_percent(behind) + " of the best");
}

void print_shut_out(const models::Inputs& inputs, const FoundPlans& found) {
    if (found.shut_out.fastest.empty()) {
        if (found.shut_out.played > 0) {
            std::cout << "\nMemory shut out nothing that is faster: of plans that do not fit, " << found.shut_out.played
                      << " might have been by their bounds, and are not.\n";
        }
        return;
    }
    std::cout << "\nFaster than the best, but too large:\n";
    for (const search::ShutOut& one : found.shut_out.fastest) {
        std::cout << right(duration(to_seconds(one.plan.step)), 10) << right("+" + bytes_text(one.excess_bytes), 10)
                  << "  " << plan_line(plan_of(one.plan.candidate, inputs.plan), inputs.workload.num_experts > 0)
                  << "\n";
        const std::string indent(22, ' ');
        if (one.by_recompute) {
            std::cout << indent << "fits with "
                      << what_fits_text(inputs, one.plan, *one.by_recompute, found.ranked.front()) << "\n";
        } else {
            std::cout << indent << "recomputing does not make it fit\n";
        }
        if (one.by_other_field) {
            std::cout << indent << "fits with "
                      << what_fits_text(inputs, one.plan, *one.by_other_field, found.ranked.front()) << "\n";
        }
    }
    if (found.shut_out.are_more_possible) {
        std::cout << "Of plans that do not fit, those with the " << found.shut_out.played
                  << " lowest bounds were simulated: there may be faster ones.\n";
    }
}

void print_ranked(const FoundPlans& found, bool has_experts) {
    const search::RankedPlan& best = found.ranked.front();
    std::cout << "\n"
              << right("step", 10) << right("behind", 9) << right("faster?", 9) << right("memory", 10) << "  "
              << left("most more of", 26) << "plan\n";
    for (const search::RankedPlan& one : found.ranked) {
        const bool is_best = &one == &best;
        std::cout << right(duration(one.prediction.step_time_s), 10)
                  << right(is_best ? "" : percent(one.lead.ratio - 1), 9)
                  << right(is_best ? "" : percent(one.lead.probability_faster, 0), 9)
                  << right(bytes_text(one.prediction.memory.peak_bytes), 10) << "  "
                  << left(one.behind.empty() ? "" : loss_text(one.behind.front(), "+"), 26)
                  << plan_line(one.plan, has_experts) << "\n";
    }
    std::cout << "\nfaster?: the probability that the plan is the faster one of the two, by the uncertainties of the "
                 "constants that both lean on.\nmost more of: the loss that grew most against the best one.\n";
}

void print_by_finish(const FoundPlans& found, bool has_experts) {
    std::vector<std::string> steps, lines;
    for (const search::RankedPlan& one : found.ranked) {
        steps.push_back(duration(one.prediction.step_time_s));
        lines.push_back(plan_line(one.plan, has_experts));
    }
    std::cout << "\n";
    print_finishes(std::cout, *found.finish, steps, lines);
    std::cout << "\n" << report::others_sentence(*found.finish) << "\n";
}

}  // namespace

void write_search(JsonWriter& json, const models::Inputs& inputs, const Options& options, const FoundPlans& found) {
    const search::SearchResult& result = found.result;
    json.begin_object().member("machine", inputs.machine.name).member("stack", inputs.stack.name);
    json.member("workload", inputs.workload.name).member("version", AUSPEX_VERSION);
    json.member("tiles", options.tiles.front()).member("global_batch", options.global_batch);
    json.member("objective", options.search.objective.empty() ? "step-time" : options.search.objective);
    json.member("space", result.space).key("rejected").begin_object();
    for (const auto& [reason, count] : result.rejected) {
        json.member(reason, count);
    }
    json.end_object().member("pruned_memory", result.pruned_memory).member("pruned_bound", result.pruned_bound);
    json.member("evaluated", result.evaluated).member("untried", result.untried);
    json.member("checked", result.checked).member("cut", result.was_cut);
    json.member("least_bound_left_s", result.least_bound_left_s);
    json.member("plans_per_s", static_cast<double>(result.space - result.untried) / result.elapsed_s);
    json.member("elapsed_s", result.elapsed_s);
    write_changes(json, "binds_s", search::binding_losses(found.ranked.front().prediction));
    json.key("best").begin_array();
    for (std::size_t i = 0; i < found.ranked.size(); ++i) {
        json.begin_object();
        write_ranked(json, found.ranked[i], found.ranked.front(), result.capacity_bytes);
        if (found.finish && i < found.finish->plans.size()) {
            write_plan_finish(json, found.finish->plans[i]);
        }
        json.member("probability_best", found.choice.probability_best[i]).key("notes").begin_array();
        for (const std::string& note : found.ranked[i].prediction.notes) {
            json.value(note);
        }
        json.end_array().end_object();
    }
    json.end_array();
    if (found.finish) {
        write_finishes(json, *found.finish);
    }
    if (const auto& spread = found.ranked.front().prediction.published_spread) {
        write_published_spread(json, *spread);
    }
    write_deciding_constants(json, found.choice);
    write_room(json, found.room);
    write_given(json, found);
    write_shut_out(json, inputs, found.shut_out);
    json.key("pareto").begin_array();
    for (const search::EvaluatedPlan& one : result.pareto) {
        json.begin_object();
        write_candidate(json, inputs, one.candidate);
        json.member("step_time_s", to_seconds(one.step));
        json.member("memory_peak_bytes", whole(one.memory_peak_bytes)).end_object();
    }
    json.end_array().key("notes").begin_array();
    if (const std::string note = background_note(inputs.machine.cpu); !note.empty()) {
        json.value(note);
    }
    json.end_array().end_object();
}

void print_search(const models::Inputs& inputs, const Options& options, const FoundPlans& found) {
    const bool has_experts = inputs.workload.num_experts > 0;
    const search::SearchResult& result = found.result;
    const search::RankedPlan& best = found.ranked.front();
    const auto equal =
        std::ranges::count_if(found.ranked, [](const search::RankedPlan& p) { return p.lead.is_within_uncertainty(); });
    std::cout << inputs.workload.name << " on " << options.tiles.front()
              << (inputs.machine.cpu.cores > 0 ? " ranks of " : " tiles of ") << inputs.machine.name << " with "
              << inputs.stack.name << ", " << thousands(options.global_batch) << " sequences a step"
              << overrides_line(options) << "\n\n"
              << (found.is_by_finish()     ? result.was_cut ? "Over first, of those found so far: " : "Over first: "
                  : result.knows_fastest() ? "The best: "
                                           : "The best so far: ")
              << duration(best.prediction.step_time_s) << " a step, " << percent(best.prediction.mfu) << " MFU, "
              << bytes_text(best.prediction.memory.peak_bytes) << " of " << bytes_text(result.capacity_bytes)
              << report::tight_clause(found.room) << "\n  " << plan_line(best.plan, has_experts) << "\n";
    print_what_binds(best, result.capacity_bytes);
    if (found.room.is_tight()) {
        std::cout << report::room_sentence(found.room) << "\n";
    }
    if (best.prediction.published_spread) {
        std::cout << "Its step: " << duration(best.prediction.step_time_interval_with_spread_s.low) << " to "
                  << duration(best.prediction.step_time_interval_with_spread_s.high) << " (90 %), "
                  << report::spread_words(best.prediction) << "; the latter is alike for all plans.\n";
    }
    if (options.tokens > 0) {
        std::cout << short_count(options.tokens) << " tokens take it "
                  << format_quantity(best.prediction.run_time_s, Dimension::kSeconds) << " and "
                  << thousands(best.prediction.node_hours)
                  << " node-hours, without checkpoints, failures and queueing.\n";
    }
    if (found.finish) {
        std::cout << report::finish_sentence(*found.finish) << ".\n";
    }
    if (equal > 1) {
        std::cout << "The constants do not tell it from " << equal - 1 << " of the others below.\n";
    }
    if (found.ranked.size() > 1) {
        print_choice(found.choice);
    }
    if (found.is_by_finish()) {
        print_by_finish(found, has_experts);
    } else {
        print_ranked(found, has_experts);
    }
    if (found.given) {
        std::cout << "\n" << report::given_sentence(*found.given, result.space) << "\n";
        if (found.given->why_not.empty()) {
            std::cout << "  " << differences_line(found.given->ranked.plan, best.plan) << "\n";
        }
    }
    if (result.was_cut && !options.plan.empty()) {
        std::cout << "\nWhere the plan of --plan stands is told by a search that was not ended early.\n";
    }
    print_shut_out(inputs, found);
    for (const std::string& note : best.prediction.notes) {
        std::cout << (&note == &best.prediction.notes.front() ? "\n" : "") << "Note on the best: " << note << "\n";
    }
    if (found.finish) {
        for (const std::string& note : found.finish->plans.front().notes) {
            std::cout << "Note on its run: " << note << "\n";
        }
    }
    std::cout << "\n"
              << counted(static_cast<double>(result.space), "plan") << ": " << report::counts_clause(result) << "; "
              << duration(result.elapsed_s) << "\n";
    if (result.was_cut) {
        std::cout << report::cut_sentence(result) << "\n";
    }
}

}  // namespace auspex::cli
