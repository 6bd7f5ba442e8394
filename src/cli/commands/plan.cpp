/// @file auspex plan: the best layouts of a model over a number of tiles, out of all that there are.
#include <algorithm>
#include <iostream>
#include <sstream>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/output_file.hpp"
#include "base/units.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/plan_output.hpp"
#include "cli/output/prediction_output.hpp"
#include "launch/child_process.hpp"
#include "launch/input_files.hpp"
#include "launch/output_locks.hpp"
#include "launch/progress_line.hpp"
#include "launch/train/child_run.hpp"
#include "sim/search/plan_search.hpp"
#include "sim/search/ranked_plans.hpp"

namespace auspex::cli {
namespace {

/// What does not vary, where no --plan says otherwise.
constexpr const char* kPlainPlan = R"({"source": "auspex plan", "ep": 1, "tp": 1, "pp": 1, "micro_batch_size": 1,
    "micro_batches": 1, "schedule": "1f1b", "precision": "bf16", "gradient_dtype": "bf16", "optimizer": "sharded",
    "dispatch": "alltoall", "expert_kernels": "grouped"})";

std::string bytes_text(double bytes) { return format_quantity(bytes, Dimension::kBytes); }

JsonDocument base_plan(const Options& options) {
    if (!options.plan.empty()) {
        return launch::load_document("plan", options.plan, options.overrides);
    }
    JsonDocument document = JsonDocument::parse(kPlainPlan, "plan");
    for (const std::string& text : options.overrides) {
        if (const launch::Override parts = launch::split_override(text); parts.role == "plan") {
            document.set(parts.path, parts.value);
        }
    }
    return document;
}

models::Inputs load(const Options& options) {
    launch::require_roles(options.overrides, {"machine", "stack", "workload", "plan"});
    return models::load_inputs(launch::load_document("machine", options.machine, options.overrides),
                               launch::load_document("stack", options.stack, options.overrides),
                               launch::load_document("workload", options.workload, options.overrides),
                               base_plan(options));
}

search::SpaceRequest request_of(const Options& options) {
    search::SpaceRequest request;
    request.tiles = options.tiles.front();
    request.global_batch = options.search.global_batch;
    request.what_if = options.search.what_if;
    if (!options.search.where.empty()) {
        request.where = search::read_constraints("--where", options.search.where);
    }
    for (const std::string& text : options.overrides) {
        const launch::Override parts = launch::split_override(text);
        if (parts.role == "plan" && (parts.path == "dp" || parts.path == "micro_batches")) {
            throw InputError(
                "--set plan." + parts.path,
                "found with auspex plan, where it follows from tiles, batch and the rest; expected another "
                "field, or --where " +
                    parts.path + "=N");
        }
        if (parts.role == "plan") {
            request.fixed.push_back(parts.path);
        }
    }
    return request;
}

[[noreturn]] void refuse_empty(const search::SpaceRequest& request, const search::SearchResult& result) {
    std::string reasons;
    for (const auto& [reason, count] : result.rejected) {
        reasons += (reasons.empty() ? "" : "; ") + std::to_string(count) + " times " + reason;
    }
    throw InputError(
        "--tiles " + std::to_string(request.tiles) + " with --global-batch " + std::to_string(request.global_batch),
        "found no plan that divides them: " + (reasons.empty() ? "nothing is offered" : reasons));
}

[[noreturn]] void refuse_unfit(const models::Inputs& inputs, const search::SearchResult& result) {
    const search::EvaluatedPlan& smallest = result.smallest;
    throw InputError("memory of " + inputs.machine.name,
                     "found no plan that fits: the smallest that was looked at takes " +
                         bytes_text(smallest.memory_peak_bytes) + " of " + bytes_text(result.capacity_bytes) + " (" +
                         plan_line(plan_of(smallest.candidate, inputs.plan), inputs.workload.num_experts > 0) +
                         "); expected more tiles, a smaller batch, or fewer fields that are fixed");
}

void write_ranked(JsonWriter& json, const search::RankedPlan& one, double capacity_bytes) {
    const predict::Prediction& p = one.prediction;
    json.begin_object().key("plan").begin_object();
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
    json.member("within_uncertainty", one.lead.is_within_uncertainty()).end_object();
}

void write_json(const models::Inputs& inputs, const Options& options, const search::SearchResult& result,
                const std::vector<search::RankedPlan>& list) {
    JsonWriter json(std::cout);
    json.begin_object().member("machine", inputs.machine.name).member("stack", inputs.stack.name);
    json.member("workload", inputs.workload.name).member("version", AUSPEX_VERSION);
    json.member("tiles", options.tiles.front()).member("global_batch", options.search.global_batch);
    json.member("space", result.space).key("rejected").begin_object();
    for (const auto& [reason, count] : result.rejected) {
        json.member(reason, count);
    }
    json.end_object().member("pruned_memory", result.pruned_memory).member("pruned_bound", result.pruned_bound);
    json.member("evaluated", result.evaluated).member("checked", result.checked).member("cut", result.was_cut);
    json.member("least_bound_left_s", result.least_bound_left_s);
    json.member("plans_per_s", static_cast<double>(result.space) / result.elapsed_s);
    json.member("elapsed_s", result.elapsed_s).key("best").begin_array();
    for (const search::RankedPlan& one : list) {
        write_ranked(json, one, result.capacity_bytes);
    }
    json.end_array().key("pareto").begin_array();
    for (const search::EvaluatedPlan& one : result.pareto) {
        json.begin_object().key("plan").begin_object();
        write_plan(json, plan_of(one.candidate, inputs.plan));
        json.end_object().member("step_time_s", to_seconds(one.step));
        json.member("memory_peak_bytes", whole(one.memory_peak_bytes)).end_object();
    }
    json.end_array().end_object();
}

/// The loss that the plan has most more of than the best one: "+120 ms bubble".
std::string why(const search::RankedPlan& one, const search::RankedPlan& best) {
    std::size_t most = 0;
    Picoseconds more = 0;
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        const Picoseconds difference = one.prediction.losses[loss] - best.prediction.losses[loss];
        if (difference > more) {
            more = difference;
            most = loss;
        }
    }
    return more > 0 ? "+" + duration(to_seconds(more)) + " " + to_string(static_cast<schedule::Loss>(most)) : "";
}

void print_text(const models::Inputs& inputs, const Options& options, const search::SearchResult& result,
                const std::vector<search::RankedPlan>& list) {
    const bool has_experts = inputs.workload.num_experts > 0;
    const search::RankedPlan& best = list.front();
    const auto equal =
        std::ranges::count_if(list, [](const search::RankedPlan& p) { return p.lead.is_within_uncertainty(); });
    std::cout << inputs.workload.name << " on " << options.tiles.front() << " tiles of " << inputs.machine.name
              << " with " << inputs.stack.name << ", " << thousands(options.search.global_batch) << " sequences a step"
              << overrides_line(options) << "\n\n"
              << (result.was_cut ? "The best so far: " : "The best: ") << duration(best.prediction.step_time_s)
              << " a step, " << percent(best.prediction.mfu) << " MFU, "
              << bytes_text(best.prediction.memory.peak_bytes) << " of " << bytes_text(result.capacity_bytes) << "\n  "
              << plan_line(best.plan, has_experts) << "\n";
    if (equal > 1) {
        std::cout << "The constants do not tell it from " << equal - 1 << " of the others below.\n";
    }
    std::cout << "\n"
              << right("step", 10) << right("behind", 9) << right("faster?", 9) << right("memory", 10) << "  "
              << left("most more of", 26) << "plan\n";
    for (const search::RankedPlan& one : list) {
        const bool is_best = &one == &best;
        std::cout << right(duration(one.prediction.step_time_s), 10)
                  << right(is_best ? "" : percent(one.lead.ratio - 1), 9)
                  << right(is_best ? "" : percent(one.lead.probability_faster, 0), 9)
                  << right(bytes_text(one.prediction.memory.peak_bytes), 10) << "  "
                  << left(is_best ? "" : why(one, best), 26) << plan_line(one.plan, has_experts) << "\n";
    }
    std::cout << "\nfaster?: the probability that the plan is the faster one of the two, by the uncertainties of the "
                 "constants that both lean on.\n\n"
              << thousands(static_cast<double>(result.space))
              << " plans: " << thousands(static_cast<double>(result.pruned_bound))
              << " cannot be among the best by their bounds, " << thousands(static_cast<double>(result.pruned_memory))
              << " looked at do not fit, " << thousands(static_cast<double>(result.evaluated)) << " were simulated, "
              << thousands(static_cast<double>(result.checked)) << " of them twice; " << duration(result.elapsed_s)
              << "\n";
    if (result.was_cut && result.least_bound_left_s > 0) {
        std::cout << "Ended early: no plan takes less than "
                  << duration(std::min(result.least_bound_left_s, best.prediction.step_time_s)) << ".\n";
    }
}

void write_winner(const Options& options, const models::Plan& plan) {
    std::ostringstream text;
    {
        JsonWriter json(text);
        json.begin_object().member("source", "the best of " + options.command_line);
        write_plan(json, plan);
        json.end_object();
    }
    write_file(options.out, text.str());
}

}  // namespace

void run_plan(const Options& options) {
    const models::Inputs inputs = load(options);
    if (inputs.machine.cpu.cores > 0) {
        throw InputError("--machine",
                         "found " + inputs.machine.name +
                             ", whose ranks are processes on CPU cores; expected a machine of accelerators");
    }
    const search::SpaceRequest request = request_of(options);
    search::SearchOptions how;
    if (options.search.top > 0) {
        how.top = static_cast<std::size_t>(options.search.top);
    }
    how.exhaustive = options.search.exhaustive;
    launch::ProgressLine line("plans decided");
    how.progress = [&line](const search::SearchProgress& p) { line.show(p.done, p.all); };
    how.is_cut = [] { return launch::caught_signal() != 0; };
    search::SearchResult result;
    {
        const launch::SignalsCaught signals;
        result = search_plans(inputs, request, how);
    }
    const int signal = launch::take_caught_signal();
    if (result.space == 0) {
        refuse_empty(request, result);
    }
    if (result.best.empty() && result.was_cut) {
        throw launch::Interrupted(signal);
    }
    if (result.best.empty()) {
        refuse_unfit(inputs, result);
    }
    const std::vector<search::RankedPlan> list = ranked_plans(inputs, result);
    if (!options.out.empty()) {
        write_winner(options, list.front().plan);
    }
    if (options.json) {
        write_json(inputs, options, result, list);
    } else {
        print_text(inputs, options, result, list);
    }
    if (result.was_cut) {
        std::cout.flush();
        throw launch::Interrupted(signal);
    }
}

}  // namespace auspex::cli
