/// @file auspex endure: kills a supervised run at random, and sets its goodput beside a campaign's.
#include <iostream>
#include <stdexcept>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/output/endurance/endurance_output.hpp"
#include "launch/mpirun.hpp"
#include "launch/output_locks.hpp"
#include "launch/progress_line.hpp"
#include "workflows/endure/endurance.hpp"

namespace auspex::cli {
namespace {

workflows::EndureRequest endure_request(const Options& options) {
    workflows::EndureRequest request;
    request.workload = options.workload.empty() ? request.workload : options.workload;
    request.data = options.data;
    request.ranks = options.ranks > 0 ? options.ranks : request.ranks;
    request.intervals = options.endure.intervals.empty() ? request.intervals : options.endure.intervals;
    request.mtbfs_s = options.endure.mtbfs_s.empty() ? request.mtbfs_s : options.endure.mtbfs_s;
    request.kills = options.verify.kills.value_or(request.kills);
    request.seed = options.seed.value_or(request.seed);
    request.mpirun_flags = options.train.mpirun;
    request.command_line = options.command_line;
    if (request.kills == 0) {
        throw InputError("--kills", "found 0; expected at least 1");
    }
    return request;
}

/// Lines as they come, or with --json nothing but how far it is.
workflows::EndureWatch watch_of(launch::ProgressLine& line, bool prints_lines) {
    workflows::EndureWatch watch;
    watch.line = [prints_lines](const std::string& text) {
        if (prints_lines) {
            std::cout << text << std::endl;
        }
    };
    watch.progress = [&line, prints_lines](std::size_t done, std::size_t all) {
        if (!prints_lines) {
            line.show(done, all);
        }
    };
    return watch;
}

report::EnduranceReport endure_showing(const workflows::EndureRequest& request, bool prints_lines) {
    launch::ProgressLine line("runs done");
    return endure(request, watch_of(line, prints_lines));
}

}  // namespace

void run_endure(const Options& options) {
    if (launch::rank_of_launcher(0)) {
        throw InputError("auspex endure", "found itself started by an MPI launcher; expected to start mpirun itself");
    }
    const workflows::EndureRequest request = endure_request(options);
    launch::require_mpirun();
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const report::EnduranceReport report = endure_showing(request, !options.json);
    if (!options.out.empty()) {
        write_endurance_report(report, options.out);
    }
    if (options.json) {
        write_endurance_json(std::cout, report);
    } else {
        std::cout << endurance_text(report) << "\n" << verdict_of(report) << "\n";
        if (!options.out.empty()) {
            std::cout << "The report is in " << options.out
                      << ": index.html, report.md, settings.csv, pieces.csv, goodput.svg\n";
        }
    }
    if (!report.passed()) {
        throw std::runtime_error("endurance: " + verdict_of(report));
    }
}

}  // namespace auspex::cli
