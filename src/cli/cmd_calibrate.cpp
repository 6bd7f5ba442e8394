/// @file auspex calibrate: measures this machine, or reads another's measurements, and writes a machine file.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "cli/blame_flag.hpp"
#include "cli/calibrate_measure.hpp"
#include "cli/child_process.hpp"
#include "cli/commands.hpp"
#include "cli/input_files.hpp"
#include "cli/json_writer.hpp"
#include "cli/output_locks.hpp"
#include "cli/train_launch.hpp"
#include "cli/train_setup.hpp"
#include "compare/fit/machine_writer.hpp"
#include "report/calibration/calibration_report.hpp"
#include "report/parts/text.hpp"

namespace auspex {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultOut = "machines/local.json";

std::string out_of(const Options& options) { return options.out.empty() ? kDefaultOut : options.out; }

/// Beside the machine file, unless it is named or given.
std::string measurements_of(const Options& options) {
    if (!options.calibrate.from.empty()) {
        return find_input("measurements", options.calibrate.from);
    }
    return !options.calibrate.measurements.empty() ? options.calibrate.measurements
                                                   : fs::path(out_of(options)).replace_extension(".csv").string();
}

/// A machine file that somebody wrote by hand is not written over.
void require_own_file(const std::string& out) {
    if (!out.ends_with(".json")) {
        throw InputError("--out " + out, "expected a name that ends in .json");
    }
    std::error_code status;
    if (!fs::exists(out, status)) {
        return;
    }
    const JsonDocument document = JsonDocument::load(out);
    const auto written_by = document.root().is_object() ? document.root().find(kWrittenByKey) : std::nullopt;
    if (!written_by || !written_by->is_string() || written_by->as_string() != kWrittenBy) {
        throw InputError("--out " + out,
                         "found a file that calibration has not written; expected a new name, or a "
                         "file of its own");
    }
}

/// What cannot be written at the end is found at the start.
void require_writable(const char* flag, const std::string& file) {
    blame_flag(flag, file, [&] { const OutputFile unused(file); });
}

void require_two_files(const Options& options, const std::string& out, const std::string& measurements) {
    std::error_code status, other_status;  // a path that cannot be followed is a matter of who opens it
    const fs::path one = fs::weakly_canonical(out, status), other = fs::weakly_canonical(measurements, other_status);
    if (!status && !other_status && one == other) {
        throw InputError("--out " + out, std::string("found the file of ") +
                                             (options.calibrate.from.empty() ? "--measurements" : "--from") +
                                             "; expected two files");
    }
}

void require_sense(const Options& options) {
    const CalibrateFlags& calibrate = options.calibrate;
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
    if (calibrate.from.empty() && rank_of_launcher(0)) {
        throw InputError("auspex calibrate",
                         "found itself started by an MPI launcher; expected to start mpirun itself");
    }
}

/// The key by which the file is known later.
std::string marked(std::string machine_json) {
    if (machine_json.find(kWrittenByKey) == std::string::npos) {
        machine_json.insert(machine_json.find('{') + 1,
                            "\n  " + json_quote(kWrittenByKey) + ": " + json_quote(kWrittenBy) + ",");
    }
    return machine_json;
}

/// What the other lenses of a machine without a section host would run with.
std::string stack_for(const Options& options, const Machine& machine) {
    return !options.stack.empty() ? options.stack : !machine.default_stack.empty() ? machine.default_stack : "bare";
}

/// What to do about rows that make no machine: measured in too short a time, they may be too few or too scattered.
std::string budget_advice(const Options& options) {
    const double budget_s = options.calibrate.budget_s;
    return budget_s > 0 && budget_s < kDefaultBudget_s
               ? "; " + thousands(budget_s) +
                     " s may be too short for it: measure again with --fresh and a larger --budget-s (" +
                     thousands(kDefaultBudget_s) + " without it)"
               : "; --fresh measures everything again";
}

/// Names the file whose rows make no machine, and what to do about it.
template <class Fit>
Calibration fit_rows(const std::string& measurements, const std::string& advice, const Fit& fit) {
    try {
        return fit();
    } catch (const InputError& error) {
        const std::string text = error.what(), head = "measurements: ";
        if (!text.starts_with(head)) {
            throw;
        }
        throw InputError(measurements, text.substr(head.size()) + advice);
    }
}

Calibration calibrate(const Options& options, const std::string& out, const std::string& measurements) {
    if (!options.calibrate.from.empty()) {
        const JsonDocument base = load_document("machine", options.machine, {});
        const Stack stack = load_stack(load_document("stack", stack_for(options, load_machine(base)), {}));
        const std::vector<Measurement> rows =
            blame_flag("--from", measurements, [&] { return load_measurements(measurements); });
        if (rows.empty()) {
            throw InputError(measurements, "found no rows below the header; expected at least one");
        }
        return fit_rows(measurements, "", [&] { return calibrate_from(base, rows, stack); });
    }
    const Stack stack = load_stack(load_document("stack", stack_of(options), {}));
    const SignalsNoted signals;
    CalibrationRows measured = measure_machine(options, stack, measurements);
    Calibration calibration = fit_rows(measurements, budget_advice(options), [&] {
        return calibrate_host(fs::path(out).stem().string(), measured.rows, stack);
    });
    require_no_signal(options, measurements);
    calibration.warnings.insert(calibration.warnings.begin(), measured.warnings.begin(), measured.warnings.end());
    return calibration;
}

/// Of the new file: what was measured here, laws of kernels apart; with --from everything that is no assumption.
std::vector<Constant> constants_of(const Machine& machine, bool is_from) {
    std::vector<Constant> constants = machine.constants;
    std::erase_if(constants, [is_from](const Constant& constant) {
        const bool is_host = constant.path.starts_with("machine.host.");
        return is_from ? constant.kind != ConstantKind::kMeasured && constant.kind != ConstantKind::kFitted
                       : !is_host || constant.path.starts_with("machine.host.kernels.");
    });
    return constants;
}

void write_fits(JsonWriter& json, const Calibration& calibration) {
    json.key("fits").begin_array();
    for (const FitQuality& fit : calibration.fits) {
        json.begin_object().member("kind", fit.kind).member("name", fit.name).member("precision", fit.precision);
        json.member("points", static_cast<std::int64_t>(fit.points.size())).member("typical_error", fit.typical_error);
        json.member("worst_error", fit.worst_error).member("outliers", fit.outliers).member("poor", fit.is_poor);
        json.member("verdict", fit.verdict).key("terms").begin_array();
        for (const FitQuality::Term& term : fit.terms) {
            json.begin_object().member("name", term.name).member("value", term.value);
            json.member("low", term.low).member("high", term.high).end_object();
        }
        json.end_array().end_object();
    }
    json.end_array();
}

void write_changes(JsonWriter& json, const char* key, const std::vector<ConstantChange>& changes) {
    json.key(key).begin_array();
    for (const ConstantChange& change : changes) {
        json.begin_object().member("path", change.now.path);
        json.member("before", change.before.value).member("before_kind", to_string(change.before.kind));
        json.member("value", change.now.value).member("low", change.low).member("high", change.high);
        json.member("kind", to_string(change.now.kind)).member("rows", change.rows).member("verdict", change.verdict);
        json.member("source", change.now.source).end_object();
    }
    json.end_array();
}

void write_caches(JsonWriter& json, const CacheSizes& caches) {
    const auto write = [&json](const char* key, const CacheSize& size, double otherwise) {
        json.key(key).begin_object().member("told_bytes", size.told_bytes);
        json.member("measured_bytes", size.measured_bytes).member("taken_bytes", size.bytes(otherwise)).end_object();
    };
    json.key("caches").begin_object();
    write("own", caches.own, kAssumedOwnCache);
    write("last_level", caches.last_level, kAssumedLastLevel);
    json.end_object();
}

void print_json(const CalibrationReport& report) {
    JsonWriter json(std::cout);
    const Calibration& calibration = report.calibration;
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

bool has_laws(const Machine& machine, CpuPrecision precision) {
    return std::ranges::any_of(machine.host.laws[static_cast<std::size_t>(precision)], &CpuLaw::known);
}

/// The command to go on with.
std::string next_step_text(const Options& options, const std::string& out, const Machine& of_out) {
    const std::string stack = options.stack.empty() ? "" : " --stack " + quoted_for_shell(options.stack);
    const std::string machine = " --machine " + quoted_for_shell(out);
    if (!options.calibrate.from.empty()) {
        return "Next: auspex predict" + machine + " --stack " + quoted_for_shell(stack_for(options, of_out)) +
               " --workload MODEL --plan PLAN --tiles N; docs/calibration.md says how to read the verdicts.";
    }
    const std::string& hostfile = options.train.hostfile;
    const std::string layouts = hostfile.empty() ? "one-node" : "nodes";
    const std::string hosts = hostfile.empty() ? "" : " --hostfile " + quoted_for_shell(hostfile);
    const std::string flags = options.train.mpirun.empty() ? "" : " --mpirun=" + quoted_for_shell(options.train.mpirun);
    const bool has_bf16 = has_laws(of_out, CpuPrecision::kBf16);
    const char* const precision = has_bf16 ? "" : " --set plan.precision=fp32 --set plan.gradient_dtype=fp32";
    return "Next: auspex compare --layouts " + layouts + (out == kDefaultOut ? "" : machine) + stack + hosts + flags +
           precision + "; docs/calibration.md says how to read the verdicts.";
}

void print_text(const CalibrationReport& report) {
    std::cout << fits_text(report.calibration) << "\n"
              << (report.is_from ? changes_text(report) : constants_text(report.constants)) << "\n";
    for (const std::string& warning : report.calibration.warnings) {
        std::cout << "Warning: " << warning << "\n";
    }
    std::cout << (report.calibration.warnings.empty() ? "" : "\n") << verdict_of(report) << "\nThe machine file is "
              << report.machine_file << ", measurements are in " << report.measurements_file << ".\n";
}

}  // namespace

void run_calibrate(const Options& options) {
    require_sense(options);
    const std::string out = out_of(options), measurements = measurements_of(options);
    require_two_files(options, out, measurements);
    if (options.out.empty()) {
        std::error_code status;  // what is wrong with the folder, the file's own check says
        fs::create_directories(fs::path(out).parent_path(), status);
    }
    OutputLocks locks(options.command_line);
    locks.take_file("--out " + out, out);
    require_own_file(out);
    require_writable("--out", out);
    const std::string& report_folder = options.calibrate.report;
    if (!report_folder.empty()) {
        locks.take_folder("--report", report_folder);
        require_writable("--report", (fs::path(report_folder) / "index.html").string());
    }
    CalibrationReport report;
    report.calibration = calibrate(options, out, measurements);
    write_file(out, marked(report.calibration.machine_json));
    const Machine machine = load_machine(JsonDocument::load(out));
    report.machine = machine.name;
    report.machine_file = out;
    report.measurements_file = measurements;
    report.command = options.command_line;
    report.is_from = !options.calibrate.from.empty();
    report.constants_of_machine = machine.constants.size();
    report.constants = constants_of(machine, report.is_from);
    if (!report_folder.empty()) {
        write_calibration_report(report, report_folder);
    }
    if (options.json) {
        print_json(report);
        return;
    }
    print_text(report);
    if (!report_folder.empty()) {
        std::cout << "The report is " << report_folder << "/index.html\n";
    }
    std::cout << next_step_text(options, out, machine) << "\n";
}

}  // namespace auspex
