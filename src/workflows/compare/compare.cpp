/// @file Predictions, runs, and what is made of both.
#include "workflows/compare/compare.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "compare/evaluate/compared_operations.hpp"
#include "exec/system/cores.hpp"
#include "launch/child_process.hpp"
#include "launch/mpirun.hpp"
#include "launch/new_folder.hpp"
#include "launch/train/child_run.hpp"
#include "microbench/probe.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "workflows/compare/cases.hpp"
#include "workflows/compare/predictions.hpp"
#include "workflows/compare/runs.hpp"

namespace auspex::workflows {
namespace {

/// Unless the command is to go on with them.
void refuse_earlier_runs(const CompareRequest& request) {
    std::error_code status;
    if (const std::string records = records_of(request);
        !request.resumes && std::filesystem::is_regular_file(records, status)) {
        throw InputError(records,
                         "found the runs of an earlier comparison; expected --resume to go on with it, or "
                         "another --out, or that file removed to begin anew");
    }
}

/// Found out before the runs, not behind them.
void require_writable(const std::filesystem::path& file) {
    std::error_code status;
    if (std::filesystem::is_directory(file, status)) {
        throw InputError(file.string(), "found a folder; expected a file, or none yet");
    }
    const bool is_there = std::filesystem::exists(file, status);
    if (access(is_there ? file.c_str() : file.parent_path().c_str(), is_there ? W_OK : W_OK | X_OK) != 0) {
        throw InputError(file.string(), "found a place that cannot be written to (" +
                                            std::string(std::strerror(errno)) + "); expected write permission");
    }
}

/// Folders and files of --out, and what is there already.
void prepare_out(const CompareRequest& request, const std::vector<CompareCase>& cases, launch::OutputLocks& locks,
                 RunPlan& plan) {
    if (request.out.empty()) {
        return;
    }
    const std::filesystem::path folder = request.out;
    locks.take_folder("--out", request.out);
    refuse_earlier_runs(request);
    plan.traces = report::make_report_folder((folder / "traces").string(), "traces").string();
    plan.records = records_of(request);
    for (const char* file : {"index.html", "comparison.json", "cases.csv", "cases.jsonl"}) {
        require_writable(folder / file);
    }
    for (const CompareCase& one : cases) {
        require_writable(std::filesystem::path(plan.traces) / one.trace_file());
    }
    std::error_code status;
    if (!std::filesystem::exists(plan.records, status)) {
        return;
    }
    plan.earlier = read_case_runs(plan.records, [&](const std::string& name, const std::string& workload) {
        const auto found = std::find_if(cases.begin(), cases.end(), [&](const CompareCase& one) {
            return one.plan == name && one.workload == workload;
        });
        return found == cases.end() ? nullptr : &found->origin;
    });
}

/// The larger count of each core.
void take_max_background(const std::vector<int>& others, std::vector<int>& most) {
    most.resize(std::max(most.size(), others.size()));
    for (std::size_t core = 0; core < others.size(); ++core) {
        most[core] = std::max(most[core], others[core]);
    }
}

/// What is measured, but for what is paired with a prediction.
void take_measured(const CompareCase& one, MeasuredCase& measured, double reference_probe_s,
                   evaluate::ComparedCase& compared) {
    compared.ranks = one.ranks;
    compared.predicted_memory_bytes = one.predicted_memory_bytes;
    const bool any_counts =
        std::any_of(measured.runs.begin(), measured.runs.end(), [](const CaseRun& run) { return run.is_valid(); });
    for (const CaseRun& run : measured.runs) {
        compared.runs.push_back(compared_run(run, reference_probe_s));
        if (run.is_disturbed && !any_counts) {
            compared.disturbed = true;
            take_max_background(run.background_processes, compared.background_processes);
        }
        compared.measured_memory_bytes = std::max(compared.measured_memory_bytes, run.memory_bytes);
    }
    compared.measured_timeline = std::move(measured.timeline);
    take_operations(compared);
}

/// A layout that failed: without a run it is left out, with some it stays.
void take_failure(const CompareCase& one, const MeasuredCase& measured, evaluate::Comparison& comparison) {
    const std::size_t kept = measured.runs.size();
    const std::string name = one.plan + " on " + one.workload;
    if (kept > 0) {
        comparison.warnings.push_back(name + " failed at repeat " + std::to_string(kept + 1) +
                                      " and was not run again (" + counted(static_cast<double>(kept), "run") +
                                      " kept): " + measured.error);
        return;
    }
    comparison.warnings.push_back(name + " failed and is left out: " + measured.error);
    comparison.failed.push_back({one.plan, one.workload, measured.error});
}

/// Predicts again what ran on cores of another speed or beside others, and pairs operations.
void take_predicted(const std::vector<const CompareCase*>& cases, std::vector<evaluate::ComparedCase>& compared) {
    const std::vector<double> speeds = speeds_to_predict(compared);
    for (std::size_t i = 0; i < compared.size(); ++i) {
        if (speeds[i] != 1) {
            predict_case(*cases[i], speeds[i], compared[i]);
        }
        if (!compared[i].background_processes.empty()) {
            widen_for_background(*cases[i], compared[i].background_processes, compared[i]);
        }
        launch::throw_if_interrupted();
        compared[i].operations =
            pair_operations(compared[i].operations, evaluate::operation_times(compared[i].predicted_timeline.value()));
    }
}

/// What is predicted is predicted for the machine's cores, whatever may be used here.
std::string note_of_other_cores(const CompareRequest& request, const models::Machine& machine) {
    const auto cores = static_cast<int>(exec::allowed_cores().size());
    if (!request.hostfile.empty() || machine.cpu.cores == cores) {
        return "";
    }
    return "predicted for the " + counted(machine.cpu.cores, "core") + " of machine " + machine.name +
           ", measured on " + std::to_string(cores) + ": calibrate with those that compare may use";
}

}  // namespace

std::string records_of(const CompareRequest& request) {
    return request.out.empty() ? "" : (std::filesystem::path(request.out) / "cases.jsonl").string();
}

Compared compare_layouts(const CompareRequest& request, launch::OutputLocks& locks) {
    const launch::SignalsCaught signals;
    const launch::NewFolder scratch(launch::temporary_folder(), "auspex-compare-");
    Compared result;
    evaluate::Comparison& comparison = result.comparison;
    const std::vector<CompareCase> cases = compare_cases(request, scratch.path(), comparison.warnings);
    std::ranges::copy(microbench::notes_of_surroundings(), std::back_inserter(comparison.warnings));
    launch::require_mpirun();
    if (const std::string note = note_of_other_cores(request, cases.front().inputs.machine); !note.empty()) {
        comparison.warnings.push_back(note);
    }
    RunPlan plan;
    plan.scratch = scratch.path();
    std::vector<evaluate::ComparedCase> compared(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        compared[i].plan = cases[i].plan;
        compared[i].workload = cases[i].workload;
        predict_case(cases[i], 1, compared[i]);
        plan.expected_s.push_back(compared[i].predicted_step_s);
        launch::throw_if_interrupted();
    }
    prepare_out(request, cases, locks, plan);
    result.machine = cases.front().inputs.machine.name;
    plan.reference_probe_s = cases.front().inputs.machine.cpu.probe_s;
    if (!plan.earlier.note.empty()) {
        comparison.warnings.push_back(plan.earlier.note);
    }
    std::vector<MeasuredCase> measured = measure_cases(request, cases, plan);
    std::vector<const CompareCase*> cases_run;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!measured[i].error.empty()) {
            take_failure(cases[i], measured[i], comparison);
        }
        if (measured[i].runs.empty()) {
            continue;
        }
        take_measured(cases[i], measured[i], plan.reference_probe_s, compared[i]);
        cases_run.push_back(&cases[i]);
        comparison.cases.push_back(std::move(compared[i]));
    }
    if (comparison.cases.empty()) {
        throw std::runtime_error("no layout ran; the last one: " + comparison.warnings.back());
    }
    take_predicted(cases_run, comparison.cases);
    summarise(comparison);
    if (request.mechanisms) {
        for (const models::CpuMechanism& mechanism : models::cpu_mechanisms()) {
            comparison.without.push_back(without_mechanism(comparison, mechanism.name, mechanism.probe,
                                                           steps_without(mechanism, cases_run, comparison.cases)));
            launch::throw_if_interrupted();
        }
    }
    launch::throw_if_interrupted();
    return result;
}

}  // namespace auspex::workflows
