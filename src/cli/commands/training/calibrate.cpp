/// @file auspex calibrate: measures this machine, or reads another's measurements, and writes a machine file.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/shell_word.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/flag_values.hpp"
#include "launch/input_files.hpp"
#include "launch/mpirun.hpp"
#include "models/cpu/cache.hpp"
#include "report/parts/text.hpp"
#include "workflows/calibrate/calibrate.hpp"

namespace auspex::cli {
namespace {

constexpr const char* kDefaultOut = "machines/local.json";

void require_sense(const Options& options) {
    const CalibrateFlags& calibrate = options.calibrate;
    refuse_given({{"--fit", !calibrate.fit.empty()},
                  {"--hold-back", !calibrate.hold_back.empty()},
                  {"--machines", !options.validate.machines.empty()},
                  {"--stacks", !options.validate.stacks.empty()},
                  {"--set", !options.overrides.empty()}},
                 "found without --cases; expected published runs to fit constants to");
    if (calibrate.from.empty() && !options.machine.empty()) {
        throw InputError("--machine",
                         "found without --from; expected both: rows of another machine replace constants "
                         "of the machine");
    }
    if (!calibrate.from.empty() && options.machine.empty()) {
        throw InputError("--from", "found without --machine; expected the machine whose constants are replaced");
    }
    if (!calibrate.from.empty() && options.out.empty()) {
        throw InputError("--from", "found without --out; expected the name of the new machine file");
    }
    const bool measures = !calibrate.measurements.empty() || calibrate.fresh || calibrate.budget_s > 0 ||
                          !calibrate.precision.empty() || options.max_ranks > 0 || !options.train.hostfile.empty() ||
                          !options.train.mpirun.empty();
    if (!calibrate.from.empty() && measures) {
        throw InputError("--from", "found together with flags of measuring; expected rows, or a machine to measure");
    }
    if (options.max_ranks == 1) {
        throw InputError("--max-ranks", "found 1; expected at least 2: messages have two ends");
    }
    if (calibrate.from.empty() && launch::rank_of_launcher(0)) {
        throw InputError("auspex calibrate",
                         "found itself started by an MPI launcher; expected to start mpirun itself");
    }
}

workflows::CalibrateRequest calibrate_request(const Options& options) {
    const CalibrateFlags& flags = options.calibrate;
    workflows::CalibrateRequest request;
    request.out = options.out.empty() ? kDefaultOut : options.out;
    request.makes_folder_of_out = options.out.empty();
    request.machine = options.machine;
    if (!flags.from.empty()) {
        request.measurements = launch::find_input("measurements", flags.from);
    } else if (!flags.measurements.empty()) {
        request.measurements = flags.measurements;
    } else {  // beside the machine file
        request.measurements = std::filesystem::path(request.out).replace_extension(".csv").string();
    }
    if (!options.stack.empty() || !request.measures()) {
        request.stack = options.stack;
    }
    request.report = flags.report;
    request.budget_s = flags.budget_s;
    request.max_ranks = options.max_ranks > 0 ? options.max_ranks : request.max_ranks;
    if (!flags.precision.empty()) {
        request.precisions.clear();
        std::istringstream words(flags.precision);
        for (std::string word; std::getline(words, word, ',');) {
            request.precisions.push_back(word);
        }
    }
    request.is_fresh = flags.fresh;
    request.hostfile = options.train.hostfile;
    request.mpirun_flags = options.train.mpirun;
    request.command_line = options.command_line;
    return request;
}

/// What to do about rows that make no machine: measured in too short a time, they may be too few or too scattered.
std::string budget_advice(const workflows::CalibrateRequest& request) {
    if (!request.measures()) {
        return "";
    }
    return request.budget_s > 0 && request.budget_s < workflows::kDefaultBudget_s
               ? "; " + thousands(request.budget_s) +
                     " s may be too short for it: measure again with --fresh and a larger --budget-s (" +
                     thousands(workflows::kDefaultBudget_s) + " without it)"
               : "; --fresh measures everything again";
}

/// Names the file whose rows make no machine, and what to do about it.
InputError blame_rows(const workflows::CalibrateRequest& request, const InputError& error) {
    const std::string text = error.what(), head = "measurements: ";
    return text.starts_with(head) ? InputError(request.measurements, text.substr(head.size()) + budget_advice(request))
                                  : error;
}

workflows::Calibrated calibrate_or_blame_rows(const workflows::CalibrateRequest& request) {
    try {
        return calibrate(request);
    } catch (const InputError& error) {
        throw blame_rows(request, error);
    }
}

void write_fits(JsonWriter& json, const fit::Calibration& calibration) {
    json.key("fits").begin_array();
    for (const fit::FitQuality& fit : calibration.fits) {
        json.begin_object().member("kind", fit.kind).member("name", fit.name).member("precision", fit.precision);
        json.member("points", static_cast<std::int64_t>(fit.points.size())).member("typical_error", fit.typical_error);
        json.member("worst_error", fit.worst_error).member("outliers", fit.outliers).member("poor", fit.is_poor);
        json.member("verdict", fit.verdict).key("terms").begin_array();
        for (const fit::FitQuality::Term& term : fit.terms) {
            json.begin_object().member("name", term.name).member("value", term.value);
            json.member("low", term.low).member("high", term.high).end_object();
        }
        json.end_array().end_object();
    }
    json.end_array();
}

void write_changes(JsonWriter& json, const char* key, const std::vector<fit::ConstantChange>& changes) {
    json.key(key).begin_array();
    for (const fit::ConstantChange& change : changes) {
        json.begin_object().member("path", change.now.path);
        json.member("before", change.before.value).member("before_kind", to_string(change.before.kind));
        json.member("value", change.now.value).member("low", change.interval.low).member("high", change.interval.high);
        json.member("kind", to_string(change.now.kind)).member("rows", change.rows).member("verdict", change.verdict);
        json.member("source", change.now.source).end_object();
    }
    json.end_array();
}

void write_caches(JsonWriter& json, const fit::CacheSizes& caches) {
    const auto write = [&json](const char* key, const fit::CacheSize& size, double otherwise) {
        json.key(key).begin_object().member("told_bytes", size.reported_bytes);
        json.member("measured_bytes", size.measured_bytes).member("taken_bytes", size.bytes(otherwise)).end_object();
    };
    json.key("caches").begin_object();
    write("own", caches.own, models::kAssumedOwnCacheBytes);
    write("last_level", caches.last_level, models::kAssumedLastLevelBytes);
    json.end_object();
}

void print_json(const report::CalibrationReport& report) {
    JsonWriter json(std::cout);
    const fit::Calibration& calibration = report.calibration;
    json.begin_object().member("version", AUSPEX_VERSION).member("machine", report.machine);
    json.member("file", report.machine_file).member("measurements", report.measurements_file);
    json.member("probe_s", calibration.probe_s).member("probe_spread", calibration.probe_spread);
    if (!report.is_from) {
        write_caches(json, calibration.caches);
    }
    write_fits(json, calibration);
    json.key("constants").begin_array();
    for (const Constant& constant : report.constants) {
        json.begin_object().member("path", constant.path).member("value", constant.value);
        json.member("uncertainty", constant.relative_uncertainty).member("kind", to_string(constant.kind));
        json.member("source", constant.source).end_object();
    }
    json.end_array();
    write_changes(json, "changes", calibration.changes);
    write_changes(json, "advice", calibration.advice);
    json.key("warnings").begin_array();
    for (const std::string& warning : calibration.warnings) {
        json.value(warning);
    }
    json.end_array().end_object();
}

bool has_kernel_costs(const models::Machine& machine, models::CpuPrecision precision) {
    return std::ranges::any_of(machine.cpu.kernel_costs[static_cast<std::size_t>(precision)],
                               &models::CpuKernelCost::known);
}

/// The command to go on with.
std::string next_step_text(const Options& options, const workflows::CalibrateRequest& request,
                           const models::Machine& of_out) {
    const std::string stack = options.stack.empty() ? "" : " --stack " + quoted_for_shell(options.stack);
    const std::string machine = " --machine " + quoted_for_shell(request.out);
    if (!request.measures()) {
        return "Next: auspex predict" + machine + " --stack " + quoted_for_shell(stack_for(request, of_out)) +
               " --workload MODEL --plan PLAN --tiles N; docs/calibration.md says how to read the verdicts.";
    }
    const std::string& hostfile = request.hostfile;
    const std::string layouts = hostfile.empty() ? "one-node" : "nodes";
    const std::string hosts = hostfile.empty() ? "" : " --hostfile " + quoted_for_shell(hostfile);
    const std::string flags = request.mpirun_flags.empty() ? "" : " --mpirun=" + quoted_for_shell(request.mpirun_flags);
    const bool has_bf16 = has_kernel_costs(of_out, models::CpuPrecision::kBf16);
    const char* const precision = has_bf16 ? "" : " --set plan.precision=fp32 --set plan.gradient_dtype=fp32";
    return "Next: auspex compare --layouts " + layouts + (request.out == kDefaultOut ? "" : machine) + stack + hosts +
           flags + precision + "; docs/calibration.md says how to read the verdicts.";
}

bool changes_nothing(const report::CalibrationReport& report) {
    return report.is_from && report.calibration.changes.empty();
}

void print_text(const report::CalibrationReport& report) {
    std::cout << report::fits_text(report.calibration) << "\n"
              << (report.is_from ? changes_text(report) : report::constants_text(report.constants)) << "\n";
    for (const std::string& warning : report.calibration.warnings) {
        std::cout << "Warning: " << warning << "\n";
    }
    std::cout << (report.calibration.warnings.empty() ? "" : "\n") << verdict_of(report) << "\nThe machine file is "
              << report.machine_file << (changes_nothing(report) ? ", with all constants as they were" : "")
              << ", measurements are in " << report.measurements_file << ".\n";
}

}  // namespace

void run_calibrate(const Options& options) {
    if (!options.validate.cases.empty()) {
        run_calibrate_cases(options);
        return;
    }
    require_sense(options);
    const workflows::CalibrateRequest request = calibrate_request(options);
    const workflows::Calibrated calibrated = calibrate_or_blame_rows(request);
    if (options.json) {
        print_json(calibrated.report);
        return;
    }
    print_text(calibrated.report);
    if (!request.report.empty()) {
        std::cout << "The report is " << request.report << "/index.html\n";
    }
    if (!changes_nothing(calibrated.report)) {
        std::cout << next_step_text(options, request, calibrated.machine) << "\n";
    }
}

}  // namespace auspex::cli
