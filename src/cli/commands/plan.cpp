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
#include "cli/output/search_output.hpp"
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
    constexpr std::size_t kShutOutShown = 3;
    const FoundPlans found{result, ranked_plans(inputs, result),
                           shut_out_by_memory(inputs, request, result, kShutOutShown)};
    if (!options.out.empty()) {
        write_winner(options, found.ranked.front().plan);
    }
    if (options.json) {
        write_search(inputs, options, found);
    } else {
        print_search(inputs, options, found);
    }
    if (result.was_cut) {
        std::cout.flush();
        throw launch::Interrupted(signal);
    }
}

}  // namespace auspex::cli
