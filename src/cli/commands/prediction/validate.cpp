/// @file auspex validate: training runs that others measured, predicted case by case.
#include <iostream>

#include "base/json_writer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/output/prediction_output.hpp"
#include "report/validation/validation_text.hpp"
#include "workflows/validate/validate.hpp"

namespace auspex::cli {
namespace {

using evaluate::RunSummary;
using evaluate::ValidatedRun;

void write_case(JsonWriter& json, const ValidatedRun& one) {
    json.begin_object().member("id", one.run.id).member("source", one.run.source_key);
    json.member("framework", one.run.framework).member("gpu", one.run.gpu).member("gpus", one.run.gpus);
    json.member("machine", one.machine).member("stack", one.stack).member("measured_from", one.measured.from);
    json.member("measured_step_s", one.measured.seconds).member("predicted_step_s", one.predicted_s);
    json.member("error", one.error()).key("interval_s").begin_array().value(one.low_s).value(one.high_s).end_array();
    json.member("interval_holds", one.interval_holds()).member("fitted", one.is_fitted);
    json.key("losses").begin_object();
    for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
        json.member(to_string(static_cast<schedule::Loss>(i)), to_seconds(one.losses[i]));
    }
    json.end_object();
    json.member("predicted_memory_bytes", whole(one.predicted_memory_bytes));
    json.member_or_null("memory_error", one.memory_error()).key("notes").begin_array();
    for (const std::string& note : one.notes) {
        json.value(note);
    }
    json.end_array().end_object();
}

void write_summary(JsonWriter& json, const RunSummary& summary) {
    json.begin_object()
        .member("n", summary.errors.n)
        .member("mape", summary.mape)
        .member("median_ape", summary.errors.median_abs_error);
    json.member("p90_ape", summary.errors.p90_abs_error)
        .member("bias", summary.errors.mean_error)
        .member("coverage", summary.coverage);
    json.member("memory_n", summary.memory_n).member("memory_mape", summary.memory_mape).end_object();
}

/// What docs/json-output.md lists for `auspex validate`.
void write_validation(JsonWriter& json, const std::vector<ValidatedRun>& runs) {
    json.key("cases").begin_array();
    for (const ValidatedRun& one : runs) {
        if (one.why_unmapped.empty()) {
            write_case(json, one);
        }
    }
    json.end_array().key("unmapped").begin_array();
    for (const ValidatedRun& one : runs) {
        if (!one.why_unmapped.empty()) {
            json.begin_object().member("id", one.run.id).member("why", one.why_unmapped).end_object();
        }
    }
    json.end_array().key("summary").begin_object();
    for (const auto& [group, summary] : evaluate::summaries(runs)) {
        write_summary(json.key(group), summary);
    }
    json.end_object();
}

}  // namespace

void run_validate(const Options& options) {
    workflows::ValidateRequest request;
    request.cases = options.validate.cases;
    request.machines = options.validate.machines;
    request.stacks = options.validate.stacks;
    request.overrides = options.overrides;
    const std::vector<evaluate::ValidatedRun> runs = workflows::validate(request);
    if (!options.json) {
        report::print_validation(std::cout, runs);
        return;
    }
    JsonWriter json(answer_stream(options));
    json.begin_object().member("version", AUSPEX_VERSION);
    write_validation(json, runs);
    json.end_object();
}

}  // namespace auspex::cli
