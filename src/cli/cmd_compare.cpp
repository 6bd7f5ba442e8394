/// @file auspex compare: real layouts, what they take, and what is predicted of them.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "cli/commands.hpp"
#include "cli/compare_output.hpp"
#include "cli/compare_predictions.hpp"
#include "cli/compare_runs.hpp"
#include "cli/new_folder.hpp"
#include "cli/train_launch.hpp"
#include "compare/compared_operations.hpp"
#include "compare/statistics.hpp"
#include "report/comparison_report.hpp"
#include "report/report_files.hpp"

namespace auspex {
namespace {

void check_flags(const Options& options) {
    constexpr int kFewestSteps = 3;
    if (rank_of_launcher(0)) {
        throw InputError("auspex compare", "found itself started by an MPI launcher; expected to start mpirun itself");
    }
    if (options.train.steps > 0 && options.train.steps < kFewestSteps) {
        throw InputError("--steps", "found " + std::to_string(options.train.steps) +
                                        "; expected at least 3, for the first two do not count");
    }
    if (options.train.resume && options.out.empty()) {
        throw InputError("--resume", "found without --out; expected both, for runs are kept there");
    }
}

/// Folders and files of --out, and what is there already.
void prepare_out(const Options& options, RunPlan& plan) {
    if (options.out.empty()) {
        return;
    }
    const std::filesystem::path folder =
        make_report_folder(options.out, "index.html, comparison.json, cases.csv, cases.jsonl and traces");
    plan.traces = make_report_folder((folder / "traces").string(), "traces").string();
    plan.records = (folder / "cases.jsonl").string();
    if (options.train.resume && std::filesystem::exists(plan.records)) {
        plan.earlier = read_case_runs(plan.records);
    }
}

/// Of the operations of the runs that count, or of all, the median of each.
std::vector<OperationPair> median_operations(std::vector<CaseRun> runs) {
    if (std::any_of(runs.begin(), runs.end(), [](const CaseRun& run) { return run.counts(); })) {
        std::erase_if(runs, [](const CaseRun& run) { return !run.counts(); });
    }
    std::vector<OperationPair> operations = runs.front().operations;
    for (OperationPair& operation : operations) {
        std::vector<double> times;
        for (const CaseRun& run : runs) {
            for (const OperationPair& other : run.operations) {
                if (other.name == operation.name) {
                    times.push_back(other.measured_s);
                }
            }
        }
        operation.measured_s = median(times);
    }
    return operations;
}

/// What is measured, but for what is paired with a prediction.
void take_measured(const CompareCase& one, MeasuredCase& measured, double reference_probe_s, ComparedCase& compared) {
    compared.ranks = one.ranks;
    compared.predicted_memory_bytes = one.predicted_memory_bytes;
    const bool any_counts =
        std::any_of(measured.runs.begin(), measured.runs.end(), [](const CaseRun& run) { return run.counts(); });
    for (const CaseRun& run : measured.runs) {
        const double speed = reference_probe_s > 0 ? reference_probe_s / run.probe_s : 0;
        compared.runs.push_back({run.step_s, speed, run.counts()});
        compared.disturbed = compared.disturbed || (run.is_disturbed && !any_counts);
        compared.measured_memory_bytes = std::max(compared.measured_memory_bytes, run.memory_bytes);
    }
    compared.measured_timeline = std::move(measured.timeline);
    compared.operations = median_operations(measured.runs);
}

/// Predicts again what ran on cores of another speed, and pairs operations.
void take_predicted(const std::vector<const CompareCase*>& cases, std::vector<ComparedCase>& compared) {
    const std::vector<double> speeds = speeds_to_predict(compared);
    for (std::size_t i = 0; i < compared.size(); ++i) {
        if (speeds[i] != 1) {
            predict_case(*cases[i], speeds[i], compared[i]);
        }
        compared[i].operations =
            pair_operations(compared[i].operations, operation_times(compared[i].predicted_timeline.value()));
    }
}

struct Compared {
    Comparison comparison;
    std::string machine;  ///< its name
};

Compared compare(const Options& options) {
    const NewFolder scratch(std::filesystem::temp_directory_path().string(), "auspex-compare-");
    Compared result;
    Comparison& comparison = result.comparison;
    const std::vector<CompareCase> cases = compare_cases(options, scratch.path(), comparison.warnings);
    RunPlan plan;
    plan.scratch = scratch.path();
    std::vector<ComparedCase> compared(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        compared[i].plan = cases[i].plan;
        compared[i].workload = cases[i].workload;
        predict_case(cases[i], 1, compared[i]);
        plan.expected_s.push_back(compared[i].predicted_step_s);
    }
    result.machine = cases.front().inputs.machine.name;
    plan.reference_probe_s = cases.front().inputs.machine.host.probe_s;
    prepare_out(options, plan);
    std::vector<MeasuredCase> measured = measure_cases(options, cases, plan);
    std::vector<const CompareCase*> cases_run;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!measured[i].error.empty()) {
            comparison.warnings.push_back(cases[i].plan + " on " + cases[i].workload +
                                          " failed and is left out: " + measured[i].error);
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
    return result;
}

void write_report(const Options& options, const Compared& compared) {
    std::ostringstream json;
    write_comparison_json(json, compared.comparison);
    write_report_file(std::filesystem::path(options.out) / "comparison.json", json.str());
    write_comparison_report({compared.comparison, compared.machine, options.command_line}, options.out);
}

}  // namespace

void run_compare(const Options& options) {
    check_flags(options);
    const Compared compared = compare(options);
    if (!options.out.empty()) {
        write_report(options, compared);
    }
    if (options.json) {
        write_comparison_json(std::cout, compared.comparison);
        return;
    }
    std::cout << comparison_text(compared.comparison);
    if (!options.out.empty()) {
        std::cout << "\nThe report is in " << options.out << ": index.html, comparison.json, cases.csv\n";
    }
}

}  // namespace auspex
