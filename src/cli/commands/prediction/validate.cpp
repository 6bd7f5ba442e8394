/// @file auspex validate: training runs that others measured, predicted case by case.
#include <iostream>
#include <sstream>

#include "base/json_writer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/prediction_output.hpp"
#include "compare/evaluate/runs/run_spread.hpp"
#include "launch/output_locks.hpp"
#include "report/parts/report_files.hpp"
#include "report/validation/case_inputs.hpp"
#include "report/validation/validation_report.hpp"
#include "report/validation/validation_text.hpp"
#include "workflows/validate/validate.hpp"

namespace auspex::cli {
namespace {

using evaluate::RunSummary;
using evaluate::ValidatedRun;

void write_case(JsonWriter& json, const ValidatedRun& one, const std::string& command) {
    json.begin_object().member("id", one.run.id).member("source", one.run.source_key);
    json.member("framework", one.run.framework).member("gpu", one.run.gpu).member("gpus", one.run.gpus);
    json.member("machine", one.machine).member("stack", one.stack).member("measured_from", one.measured.from);
    json.member("measured_step_s", one.measured.seconds).member("predicted_step_s", one.predicted_s);
    json.member("error", one.error()).key("interval_s").begin_array().value(one.low_s).value(one.high_s).end_array();
    json.key("interval_of_constants_s")
        .begin_array()
        .value(one.constants_s.low)
        .value(one.constants_s.high)
        .end_array();
    if (one.spread) {
        write_published_spread(json, *one.spread);
    }
    json.member("interval_holds", one.interval_holds()).member("fitted", one.is_fitted);
    json.member("corrected", one.is_corrected);
    json.key("losses").begin_object();
    for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
        json.member(to_string(static_cast<schedule::Loss>(i)), to_seconds(one.losses[i]));
    }
    json.end_object();
    json.member("predicted_memory_bytes", whole(one.predicted_memory_bytes));
    if (one.allocated_memory_bytes > 0) {
        json.member("allocated_memory_bytes", whole(one.allocated_memory_bytes));
    }
    json.member_or_null("memory_error", one.memory_error()).key("notes").begin_array();
    for (const std::string& note : one.notes) {
        json.value(note);
    }
    json.end_array().member("reason", one.why);
    if (!command.empty()) {
        json.member("command", command);
    }
    json.end_object();
}

void write_summary(JsonWriter& json, const RunSummary& summary) {
    json.begin_object()
        .member("n", summary.errors.n)
        .member("mape", summary.mape)
        .member("median_ape", summary.errors.median_abs_error);
    json.member("p90_ape", summary.errors.p90_abs_error)
        .member("bias", summary.errors.mean_error)
        .member("coverage", summary.coverage)
        .member("constants_coverage", summary.constants_coverage)
        .member("median_half_width", summary.median_half_width);
    json.member("memory_n", summary.memory_n).member("memory_mape", summary.memory_mape).end_object();
}

/// With --out.
void write_ablations(JsonWriter& json, const std::vector<evaluate::ConstantAblation>& ablations) {
    if (ablations.empty()) {
        return;
    }
    json.key("ablations").begin_array();
    for (const evaluate::ConstantAblation& one : ablations) {
        json.begin_object().member("constant", one.constant).member("without", one.without);
        json.member(one.stack.empty() ? "machine" : "stack", one.stack.empty() ? one.machine : one.stack);
        json.member("n", one.with_it.errors.n).member("mape", one.with_it.mape);
        json.member("mape_without", one.without_it.mape).member("bias", one.with_it.errors.mean_error);
        json.member("bias_without", one.without_it.errors.mean_error).member("all_mape", one.all_mape);
        json.member("all_mape_without", one.all_mape_without).end_object();
    }
    json.end_array();
}

/// What docs/json-output.md lists for `auspex validate`.
void write_validation(std::ostream& out, const report::ValidationReport& report) {
    const std::vector<std::string> folders = report::case_folders(report.runs);
    JsonWriter json(out);
    json.begin_object().member("version", AUSPEX_VERSION).key("cases").begin_array();
    for (std::size_t i = 0; i < report.runs.size(); ++i) {
        if (report.runs[i].why_unmapped.empty()) {
            write_case(json, report.runs[i], report::case_command(report, i, folders));
        }
    }
    json.end_array().key("unmapped").begin_array();
    for (const ValidatedRun& one : report.runs) {
        if (!one.why_unmapped.empty()) {
            json.begin_object().member("id", one.run.id).member("why", one.why_unmapped).end_object();
        }
    }
    json.end_array().key("summary").begin_object();
    for (const auto& [group, summary] : evaluate::summaries(report.runs)) {
        write_summary(json.key(group), summary);
    }
    json.end_object();
    write_ablations(json, report.ablations);
    json.end_object();
}

report::ValidationReport report_of(const Options& options, workflows::ValidatedRuns validated) {
    report::ValidationReport report;
    report.runs = std::move(validated.runs);
    report.names = std::move(validated.names);
    report.ablations = std::move(validated.ablations);
    report.files = std::move(validated.files);
    report.command = options.command_line;
    report.overrides = overrides_in_words(options);
    report.folder = options.out;
    report.machines = options.validate.machines;
    report.stacks = options.validate.stacks;
    return report;
}

/// machines/published/spread.json, as docs/validation.md has it.
void write_spread(std::ostream& out, const report::ValidationReport& report) {
    JsonWriter json(out);
    json.begin_object().member(
        "comment",
        "How far predictions of published runs are off beyond what the uncertainties of constants "
        "explain. Made by the command; not to be edited.");
    json.member("command", report.command).key("spreads").begin_array();
    for (const models::PublishedSpread& one : evaluate::spreads_of(report.runs)) {
        json.begin_object();
        if (!one.stack.empty()) {
            json.member("stack", one.stack);
        }
        if (!one.machine.empty()) {
            json.member("machine", one.machine);
        }
        json.member("runs", one.runs).member("sources", one.sources).member("sigma", one.sigma).end_object();
    }
    json.end_array().end_object();
}

void write_files(const report::ValidationReport& report) {
    std::ostringstream json;
    write_validation(json, report);
    report::write_validation_report(report);
    report::write_report_file(std::filesystem::path(report.folder) / "validation.json", json.str());
}

}  // namespace

void run_validate(const Options& options) {
    workflows::ValidateRequest request;
    request.cases = options.validate.cases;
    request.machines = options.validate.machines;
    request.stacks = options.validate.stacks;
    request.overrides = options.overrides;
    request.ablate = !options.out.empty();
    request.for_files = !options.out.empty() || !options.validate.spread.empty();
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    if (!options.validate.spread.empty()) {
        locks.take_file("--write-spread " + options.validate.spread, options.validate.spread);
        launch::require_writable("--write-spread", options.validate.spread);
    }
    const report::ValidationReport report = report_of(options, workflows::validate(request));
    if (!options.out.empty()) {
        write_files(report);
    }
    if (!options.validate.spread.empty()) {
        std::ostringstream text;
        write_spread(text, report);
        report::write_report_file(options.validate.spread, text.str());
    }
    if (options.json) {
        write_validation(answer_stream(options), report);
        return;
    }
    report::print_validation(std::cout, report.runs);
    if (!options.out.empty()) {
        std::cout << "\nThe report is in " << options.out
                  << ": index.html, report.md, scatter.svg, validation.csv, validation.json, inputs/\n";
    }
}

}  // namespace auspex::cli
