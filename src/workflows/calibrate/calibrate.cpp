/// @file Checks of what is written, rows, fits, the machine file and the report.
#include "workflows/calibrate/calibrate.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "compare/fit/machine_writer.hpp"
#include "launch/child_process.hpp"
#include "launch/flag_context.hpp"
#include "launch/input_files.hpp"
#include "launch/output_locks.hpp"
#include "workflows/calibrate/measure.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;

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
    const auto written_by = document.root().is_object() ? document.root().find(fit::kWrittenByKey) : std::nullopt;
    if (!written_by || !written_by->is_string() || written_by->as_string() != fit::kWrittenBy) {
        throw InputError("--out " + out,
                         "found a file that calibration has not written; expected a new name, or a "
                         "file of its own");
    }
}

void require_two_files(const CalibrateRequest& request) {
    const std::string& out = request.out;
    std::error_code status, other_status;  // a path that cannot be followed is a matter of who opens it
    const fs::path one = fs::weakly_canonical(out, status),
                   other = fs::weakly_canonical(request.measurements, other_status);
    if (!status && !other_status && one == other) {
        throw InputError("--out " + out, std::string("found the file of ") +
                                             (request.measures() ? "--measurements" : "--from") +
                                             "; expected two files");
    }
}

/// The key by which the file is known later.
std::string marked(std::string machine_json) {
    if (machine_json.find(fit::kWrittenByKey) == std::string::npos) {
        machine_json.insert(machine_json.find('{') + 1,
                            "\n  " + json_quote(fit::kWrittenByKey) + ": " + json_quote(fit::kWrittenBy) + ",");
    }
    return machine_json;
}

fit::Calibration calibration_of(const CalibrateRequest& request) {
    const std::string& measurements = request.measurements;
    if (!request.measures()) {
        const JsonDocument base = launch::load_document("machine", request.machine, {});
        const models::Machine machine = models::load_machine(base);
        const models::Stack stack =
            launch::load_stack(stack_for(request, machine), {}, machine);
        const std::vector<models::Measurement> rows =
            launch::with_flag_context("--from", measurements, [&] { return models::load_measurements(measurements); });
        if (rows.empty()) {
            throw InputError(measurements, "found no rows below the header; expected at least one");
        }
        return fit::calibrate_from(base, rows, stack);
    }
    const models::Stack stack = models::load_stack(launch::load_document("stack", request.stack, {}));
    const launch::SignalsCaught signals;
    CalibrationRows measured = measure_machine(request, stack);
    fit::Calibration calibration = fit::calibrate_cpu(fs::path(request.out).stem().string(), measured.rows, stack);
    require_no_signal(request);
    calibration.warnings.insert(calibration.warnings.begin(), measured.warnings.begin(), measured.warnings.end());
    return calibration;
}

/// Of the new file: what was measured here, without cost models of kernels; with --from everything that is no
/// assumption.
std::vector<Constant> constants_of(const models::Machine& machine, bool is_from) {
    std::vector<Constant> constants = machine.constants;
    std::erase_if(constants, [is_from](const Constant& constant) {
        const bool is_host = constant.path.starts_with("machine.host.");
        return is_from ? constant.kind != ConstantKind::kMeasured && constant.kind != ConstantKind::kFitted
                       : !is_host || constant.path.starts_with("machine.host.kernels.");
    });
    return constants;
}

}  // namespace

std::string stack_for(const CalibrateRequest& request, const models::Machine& machine) {
    return !request.stack.empty() ? request.stack : !machine.default_stack.empty() ? machine.default_stack : "bare";
}

Calibrated calibrate(const CalibrateRequest& request) {
    const std::string& out = request.out;
    require_two_files(request);
    if (request.makes_folder_of_out) {
        std::error_code status;  // what is wrong with the folder, the file's own check says
        fs::create_directories(fs::path(out).parent_path(), status);
    }
    launch::OutputLocks locks(request.command_line);
    locks.take_file("--out " + out, out);
    require_own_file(out);
    launch::require_writable("--out", out);
    if (!request.report.empty()) {
        locks.take_folder("--report", request.report);
        launch::require_writable("--report", (fs::path(request.report) / "index.html").string());
    }
    Calibrated calibrated;
    report::CalibrationReport& report = calibrated.report;
    report.calibration = calibration_of(request);
    write_file(out, marked(report.calibration.machine_json));
    calibrated.machine = models::load_machine(JsonDocument::load(out));
    report.machine = calibrated.machine.name;
    report.machine_file = out;
    report.measurements_file = request.measurements;
    report.command = request.command_line;
    report.is_from = !request.measures();
    report.constants_of_machine = calibrated.machine.constants.size();
    report.constants = constants_of(calibrated.machine, report.is_from);
    if (!request.report.empty()) {
        write_calibration_report(report, request.report);
    }
    return calibrated;
}

}  // namespace auspex::workflows
