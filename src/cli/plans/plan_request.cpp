/// @file Spaces of plans from flags, and refusals.
#include "cli/plans/plan_request.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/output_file.hpp"
#include "base/units.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/flags/job_size.hpp"
#include "cli/output/advice_output.hpp"
#include "cli/output/plan_output.hpp"
#include "cli/plans/finish_by.hpp"
#include "launch/child_process.hpp"
#include "launch/input_files.hpp"
#include "launch/messages.hpp"
#include "launch/train/child_run.hpp"
#include "sim/search/answers/nearest.hpp"

namespace auspex::cli {
namespace {

/// What does not vary, where no --plan says otherwise.
constexpr const char* kPlainPlan = R"({"source": "auspex plan", "ep": 1, "tp": 1, "pp": 1, "micro_batch_size": 1,
    "micro_batches": 1, "schedule": "1f1b", "precision": "bf16", "gradient_dtype": "bf16", "optimizer": "sharded",
    "dispatch": "alltoall", "expert_kernels": "grouped"})";
/// The trainer's kernels compute in fp32, and bf16 only saves memory.
constexpr const char* kCpuPrecision = "fp32";

constexpr int kMostChunks = 1000;

std::string bytes_text(double bytes) { return format_quantity(bytes, Dimension::kBytes); }

JsonDocument base_plan(const Options& options, bool is_of_cpus) {
    if (!options.plan.empty()) {
        return launch::load_document("plan", options.plan, options.overrides);
    }
    JsonDocument document = JsonDocument::parse(kPlainPlan, "plan");
    if (is_of_cpus) {
        document.set("precision", kCpuPrecision);
        document.set("gradient_dtype", kCpuPrecision);
    }
    for (const std::string& text : options.overrides) {
        if (const launch::Override parts = launch::split_override(text); parts.role == "plan") {
            document.set(parts.path, parts.value);
        }
    }
    const auto stages = document.root().find("stages");
    if (stages && stages->is_array() && !launch::value_set(options.overrides, "plan", "pp")) {
        const auto chunks = document.root().find("virtual_stages");
        const auto schedule = document.root().find("schedule");
        const models::ScheduleKind kind = schedule
                                              ? models::kScheduleKinds.at(schedule->as_one_of(models::schedule_words()))
                                              : models::Plan{}.schedule;
        const auto each = chunks ? static_cast<int>(chunks->as_integer(1, kMostChunks)) : 1;
        const int of_a_rank = stages_of_model(kind, 1, each);
        document.set("pp", std::to_string(stages->elements().size() / static_cast<std::size_t>(of_a_rank)));
    }
    return document;
}

}  // namespace

models::Inputs search_inputs(const Options& options) {
    launch::require_roles(options.overrides, {"machine", "stack", "workload", "plan"});
    JsonDocument machine = launch::load_document("machine", options.machine, options.overrides);
    const models::Machine read = models::load_machine(machine);
    const bool is_of_cpus = read.cpu.cores > 0;
    if (options.stack.empty() && read.default_stack.empty()) {
        throw InputError("auspex plan", "found no --stack, and machine " + read.name +
                                            " has no default_stack; expected " + stack_wish(read));
    }
    models::Inputs inputs = models::load_inputs(
        std::move(machine),
        launch::load_stack_document(options.stack.empty() ? read.default_stack : options.stack, options.overrides,
                                    read),
        launch::load_document("workload", options.workload, options.overrides), base_plan(options, is_of_cpus));
    check_finish_flags(options, inputs.machine);
    add_published_spread(inputs);
    if (const models::StageDeal deal = search::named_deal(inputs.plan, inputs.workload);
        deal != inputs.plan.stages && !launch::value_set(options.overrides, "plan", "stages")) {
        inputs.plan.stages = deal;
        inputs.plan.stage_layers.clear();
    }
    if (is_of_cpus && options.search.what_if) {
        throw InputError("--what-if", "found with machine " + inputs.machine.name + ", whose ranks run what stack " +
                                          inputs.stack.name +
                                          " offers; expected a machine of accelerators, or no --what-if");
    }
    return inputs;
}

search::SpaceRequest search_request(const Options& options, int tiles) {
    search::SpaceRequest request;
    request.filter = emitted_plans(options.emit.format, "--format");
    request.tiles = tiles;
    request.global_batch = options.global_batch;
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

search::SearchOptions search_options(const Options& options) {
    search::SearchOptions how;
    if (options.search.top > 0) {
        how.top = static_cast<std::size_t>(options.search.top);
    }
    if (ranks_by_finish(options)) {
        how.top = std::max(how.top, kFinalists);
    }
    how.exhaustive = options.search.exhaustive;
    how.is_cut = [limit_s = options.search.time_limit_s, begin = std::chrono::steady_clock::now()] {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        return launch::caught_signal() != 0 || (limit_s > 0 && elapsed.count() >= limit_s);
    };
    return how;
}

std::function<void(const search::SearchProgress&)> progress_on(launch::ProgressLine& line) {
    return [&line](const search::SearchProgress& p) {
        line.show(p.done, p.all, p.best_s > 0 ? "best so far " + duration(p.best_s) : "");
    };
}

/// What --where asks of a field that --set holds at something else.
void refuse_where_against_set(const models::Plan& set, const search::SpaceRequest& request) {
    search::Candidate plan;
    plan.ep = set.ep, plan.etp = set.etp, plan.tp = set.tp, plan.cp = set.cp, plan.pp = set.pp;
    plan.virtual_stages = set.virtual_stages;
    plan.micro_batch_size = set.micro_batch_size;
    plan.stages = set.stages;
    for (const search::Constraint& where : request.where) {
        if (std::ranges::find(request.fixed, where.field) != request.fixed.end() && !holds(where, plan)) {
            throw InputError("--where", "found " + text_of(where) + " beside --set plan." + where.field +
                                            ", which holds it at something else; expected one of them");
        }
    }
}

void refuse_empty(const Options& options, const models::Inputs& inputs, const search::SpaceRequest& request,
                  const search::SearchResult& result) {
    refuse_where_against_set(inputs.plan, request);
    std::string reasons, nearest;
    for (const auto& [reason, count] : result.rejected) {
        reasons += (reasons.empty() ? "" : "; ") + std::to_string(count) + " times " +
                   (reason == "--where" ? "what --where leaves out" : reason);
    }
    if (const std::optional<int> batch = nearest_batch(inputs, request)) {
        nearest =
            "--global-batch " + std::to_string(*batch) + " with these " + (options.nodes.empty() ? "tiles" : "nodes");
    }
    if (const std::optional<int> tiles = nearest_tiles(inputs, request, size_unit(options, inputs.machine))) {
        nearest +=
            (nearest.empty() ? "" : ", and ") + size_flag(options, inputs.machine, {*tiles}) + " with this batch";
    }
    throw InputError(size_flag(options, inputs.machine, {request.tiles}) + " with --global-batch " +
                         std::to_string(request.global_batch),
                     "found no plan that divides them: " + (reasons.empty() ? "nothing is offered" : reasons) +
                         (nearest.empty() ? "" : "; the nearest that have plans: " + nearest));
}

void refuse_unfit(const Options& options, const models::Inputs& inputs, const search::SpaceRequest& request,
                  const search::SearchResult& result) {
    const std::optional<search::EvaluatedPlan> least = least_memory_plan(inputs, request);
    const search::EvaluatedPlan& smallest =
        least && least->memory_peak_bytes < result.smallest.memory_peak_bytes ? *least : result.smallest;
    if (smallest.memory_peak_bytes <= result.capacity_bytes) {
        throw InputError(request.filter.name,
                         "found no plan that it takes and that fits; expected fewer fields that are fixed");
    }
    const std::optional<int> tiles = nearest_tiles_that_fit(inputs, request);
    const std::string taken = request.filter.name.empty() ? "" : " and that " + request.filter.name + " takes";
    throw InputError(
        "memory of " + inputs.machine.name,
        "found no plan that fits" + taken + ": the smallest that was looked at takes " +
            bytes_text(smallest.memory_peak_bytes) + " of " + bytes_text(result.capacity_bytes) + ", " +
            bytes_text(smallest.memory_peak_bytes - result.capacity_bytes) + " too much (" +
            plan_line(plan_of(smallest.candidate, inputs.plan), inputs.workload.num_experts > 0) + "); expected " +
            (tiles ? size_flag(options, inputs.machine, {*tiles}) + ", the nearest whole nodes on which one fits,"
                   : std::string(options.nodes.empty() ? "more tiles," : "more nodes,")) +
            " a smaller batch, or fewer fields that are fixed");
}

void warn_of_machine(const models::Machine& machine) {
    if (const std::string note = background_note(machine.cpu); !note.empty()) {
        std::cerr << launch::message_line("auspex: warning: ", machine.name + ": " + note) << std::endl;
    }
}

bool writes_folder(const Options& options) { return !options.out.empty() && !options.out.ends_with(".json"); }

void write_plan_file(const Options& options, const std::string& file, const models::Plan& plan) {
    std::ostringstream text;
    {
        JsonWriter json(text);
        json.begin_object().member("source", "the best of " + options.command_line);
        write_plan(json, plan);
        json.end_object();
    }
    write_file(file, text.str());
}

}  // namespace auspex::cli
