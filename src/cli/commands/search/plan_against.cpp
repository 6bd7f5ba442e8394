/// @file auspex plan --against: a measured sweep of layouts, predicted and judged.
#include <algorithm>
#include <iostream>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/flag_values.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/sweep_output.hpp"
#include "launch/input_files.hpp"
#include "sim/search/given_layouts.hpp"

namespace auspex::cli {
namespace {

constexpr const char* kMachine = "hf-h100";
constexpr const char* kStack = "nanotron";
constexpr const char* kTransportAfterFix = "after-pp-fix";

/// What the rows do not say, where no --plan does: the plan of nanotron's benchmarks.
constexpr const char* kRowPlan =
    R"({"source": "auspex plan --against", "dp": 1, "schedule": "1f1b", "stages": "by-cost", "precision": "bf16",
    "gradient_dtype": "fp32", "optimizer": "sharded", "sequence_parallel": true, "rank_order": ["pp", "dp", "ep", "tp"]})";

void refuse_other_flags(const Options& options) {
    refuse_given({{"--workload", !options.workload.empty()},
                  {options.search.tiles_flag.c_str(), !options.tiles.empty()},
                  {"--global-batch", options.global_batch > 0},
                  {"--where", !options.search.where.empty()},
                  {"--top", options.search.top > 0},
                  {"--exhaustive", options.search.exhaustive},
                  {"--time-limit", options.search.time_limit_s > 0},
                  {"--what-if", options.search.what_if},
                  {"--out", !options.out.empty()},
                  {"--csv", !options.csv.empty()}},
                 "found beside --against, whose file has the models, tiles and batches; expected "
                 "--machine, --stack, --plan, --set or --json");
}

JsonDocument base_plan(const Options& options) {
    if (!options.plan.empty()) {
        return launch::load_document("plan", options.plan, options.overrides);
    }
    JsonDocument plan = JsonDocument::parse(kRowPlan, "plan");
    for (const std::string& text : options.overrides) {
        if (const launch::Override parts = launch::split_override(text); parts.role == "plan") {
            plan.set(parts.path, parts.value);
        }
    }
    return plan;
}

/// Machine, stack and base plan; no workload.
models::Inputs load(const Options& options) {
    launch::require_roles(options.overrides, {"machine", "stack", "plan"});
    auto [machine, stack] =
        launch::load_machine_and_stack(options.machine.empty() ? kMachine : options.machine,
                                       options.stack.empty() ? kStack : options.stack, options.overrides);
    models::Inputs inputs{std::move(machine),
                          std::move(stack),
                          JsonDocument::parse("{}", "workload"),
                          base_plan(options),
                          {},
                          {},
                          {},
                          {}};
    inputs.machine = models::load_machine(inputs.machine_document);
    inputs.stack = models::load_stack(inputs.stack_document, inputs.machine);
    inputs.plan = models::load_plan(inputs.plan_document);
    if (!inputs.plan_document.root().find("overlap")) {
        inputs.plan.overlap_tp = inputs.stack.can_overlap_tp;
        inputs.plan.overlap_dp = inputs.stack.can_overlap_dp;
        inputs.plan.overlap_pp = inputs.stack.can_overlap_pp;
    }
    return inputs;
}

/// Without the place, which differs from row to row.
std::string reason_of(const std::string& refused, const std::string& place) {
    const std::string prefix = place + ": ";
    return refused.starts_with(prefix) ? refused.substr(prefix.size()) : refused;
}

/// Rows that ran with the software after the fix are predicted with the stack's transport of that name, if it has one
/// and none was set.
models::Stack stack_after_fix(const models::Inputs& inputs, const std::vector<std::string>& overrides) {
    const std::vector<std::string>& names = inputs.stack.transport_names;
    const bool is_chosen = std::ranges::any_of(
        overrides, [](const std::string& text) { return text.starts_with("stack.transport.use="); });
    if (is_chosen || std::ranges::find(names, kTransportAfterFix) == names.end()) {
        return inputs.stack;
    }
    JsonDocument document = inputs.stack_document;
    document.set("transport.use", json_quote(kTransportAfterFix));
    return models::load_stack(document, inputs.machine);
}

void predict_rows(const models::Inputs& inputs, const std::vector<evaluate::SweepRow>& rows, bool after_pp_fix,
                  std::vector<evaluate::SweepPrediction>& predictions) {
    std::vector<search::GivenLayout> layouts;
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].after_pp_fix == after_pp_fix) {
            layouts.push_back(
                {rows[i].workload, evaluate::plan_of(rows[i], inputs.plan), rows[i].nodes * inputs.machine.node.tiles});
            members.push_back(i);
        }
    }
    const std::vector<search::LayoutEstimate> estimates = search::estimate_layouts(inputs, layouts);
    for (std::size_t n = 0; n < members.size(); ++n) {
        const std::size_t i = members[n];
        predictions[i] = {reason_of(estimates[n].refused, rows[i].place), estimates[n].step_time_s,
                          estimates[n].memory_peak_bytes,
                          estimates[n].memory_peak_bytes <= inputs.machine.tile.hbm_bytes};
    }
}

}  // namespace

void run_plan_against(const Options& options) {
    refuse_other_flags(options);
    models::Inputs inputs = load(options);
    if (inputs.machine.cpu.cores > 0) {
        throw InputError("--machine",
                         "found " + inputs.machine.name +
                             ", whose ranks are processes on CPU cores; expected a machine of accelerators");
    }
    const std::vector<evaluate::SweepRow> rows = evaluate::load_layout_sweep(options.search.against);
    std::vector<evaluate::SweepPrediction> predictions(rows.size());
    predict_rows(inputs, rows, false, predictions);
    inputs.stack = stack_after_fix(inputs, options.overrides);
    predict_rows(inputs, rows, true, predictions);
    const evaluate::SweepJudgement judgement = judge_sweep(rows, predictions);
    if (options.json) {
        JsonWriter json(answer_stream(options));
        json.begin_object().member("machine", inputs.machine.name).member("stack", inputs.stack.name);
        json.member("version", AUSPEX_VERSION).member("against", options.search.against);
        write_sweep(json, rows, predictions, judgement);
        json.end_object();
        return;
    }
    std::cout << rows.size() << " runs of " << options.search.against << " on " << inputs.machine.name << " with "
              << inputs.stack.name << overrides_line(options) << "\n\n";
    print_sweep(std::cout, rows, judgement);
}

}  // namespace auspex::cli
