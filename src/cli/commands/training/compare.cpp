/// @file auspex compare: real layouts, what they take, and what is predicted of them.
#include <filesystem>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/output/compare_output.hpp"
#include "launch/mpirun.hpp"
#include "launch/output_locks.hpp"
#include "launch/train/child_run.hpp"
#include "report/comparison/comparison_report.hpp"
#include "report/parts/report_files.hpp"
#include "workflows/compare/compare.hpp"

namespace auspex::cli {
namespace {

void check_flags(const Options& options) {
    constexpr int kMinSteps = 3;
    if (launch::rank_of_launcher(0)) {
        throw InputError("auspex compare", "found itself started by an MPI launcher; expected to start mpirun itself");
    }
    if (options.train.steps && *options.train.steps < kMinSteps) {
        throw InputError("--steps", "found " + std::to_string(*options.train.steps) +
                                        "; expected at least 3, for the first does not count");
    }
    if (options.train.resume && options.out.empty()) {
        throw InputError("--resume", "found without --out; expected both, for runs are kept there");
    }
    if (options.seed && options.compare.random == 0) {
        throw InputError("--seed", "found without --random; expected both, for nothing else is drawn");
    }
}

workflows::CompareRequest compare_request(const Options& options) {
    const CompareFlags& flags = options.compare;
    workflows::CompareRequest request;
    request.machine = options.machine.empty() ? request.machine : options.machine;
    request.stack = options.stack.empty() ? request.stack : options.stack;
    request.overrides = options.overrides;
    request.plans = flags.plans;
    request.workloads = flags.workloads.empty() ? request.workloads : flags.workloads;
    request.layouts = flags.layouts;
    request.random = {flags.random, options.seed.value_or(1)};
    request.ranks = options.ranks;
    request.repeats = flags.repeat > 0 ? flags.repeat : request.repeats;
    request.steps = options.train.steps.value_or(0);
    request.data = options.data;
    request.out = options.out;
    request.resumes = options.train.resume;
    request.mechanisms = options.compare.mechanisms;
    request.hostfile = options.train.hostfile;
    request.mpirun_flags = options.train.mpirun;
    return request;
}

workflows::Compared compare_or_say_how_to_go_on(const workflows::CompareRequest& request, launch::OutputLocks& locks) {
    try {
        return compare_layouts(request, locks);
    } catch (const launch::Interrupted& end) {
        std::error_code status;
        const std::string records = records_of(request);
        throw launch::Interrupted(end.signal(), std::filesystem::is_regular_file(records, status)
                                                    ? "interrupted; runs are in " + records +
                                                          ", the same command with --resume goes on from there"
                                                    : "interrupted");
    }
}

void write_report(const Options& options, const workflows::Compared& compared) {
    std::ostringstream json;
    write_comparison_json(json, compared.comparison);
    report::write_report_file(std::filesystem::path(options.out) / "comparison.json", json.str());
    report::write_comparison_report({compared.comparison, compared.machine, options.command_line}, options.out);
}

}  // namespace

void run_compare(const Options& options) {
    check_flags(options);
    launch::OutputLocks locks(options.command_line);
    const workflows::Compared compared = compare_or_say_how_to_go_on(compare_request(options), locks);
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

}  // namespace auspex::cli
