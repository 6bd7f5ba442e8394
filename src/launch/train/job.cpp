/// @file Locks, a folder, a launch or several.
#include "launch/train/job.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "base/error.hpp"
#include "launch/child_process.hpp"
#include "launch/messages.hpp"
#include "launch/mpirun.hpp"
#include "launch/new_folder.hpp"
#include "launch/output_locks.hpp"
#include "launch/train/setup.hpp"
#include "launch/train/supervise.hpp"

namespace auspex::launch {
namespace {

namespace fs = std::filesystem;

/// What runs have left that could not clean up.
void remove_left_folders(const std::string& parent) {
    std::error_code status;
    for (fs::directory_iterator entry(parent, status), end; !status && entry != end; entry.increment(status)) {
        if (entry->path().filename().string().starts_with(kRunFolderPrefix)) {
            std::error_code ignored;
            fs::remove_all(entry->path(), ignored);
        }
    }
}

void check_hostfile(const std::string& file) {
    if (!file.empty() && access(file.c_str(), R_OK) != 0) {
        throw InputError("--hostfile " + file, "found no file that can be read (" + std::string(std::strerror(errno)) +
                                                   "); expected a list of hosts, one a line");
    }
}

std::string advice_of(const TrainSetup& setup) {
    if (setup.options.checkpoint_folder.empty()) {
        return std::string(kNoCheckpoint);
    }
    try {
        const int step = step_of_checkpoint(setup);
        return step < 0 ? "; no checkpoint was written yet"
                        : "; --resume goes on from the checkpoint after " + std::to_string(step) + " steps";
    } catch (const InputError& error) {
        return std::string("; no checkpoint can be used: ") + error.what();
    }
}

Launch launch_of(const TrainRequest& request, const TrainSetup& setup, std::vector<std::string> rank_arguments) {
    Launch launch;
    launch.arguments = std::move(rank_arguments);
    launch.ranks = setup.run.layout.tiles;
    launch.waits_by_yielding = !setup.run.stack.has_processes || setup.run.stack.waits_by_yielding;
    launch.hostfile = request.hostfile;
    launch.mpirun_flags = request.mpirun_flags;
    launch.steps = request.steps;
    return launch;
}

}  // namespace

void run_train_job(const TrainRequest& request, const std::vector<std::string>& rank_arguments) {
    check_hostfile(request.hostfile);
    const TrainSetup setup = load_train_setup(request, 0);
    const SignalsCaught signals;
    std::string parent;
    OutputLocks locks(request.command_line);
    if (request.checkpoint.empty()) {
        parent = temporary_folder();
    } else {
        // Beside the checkpoints, which all hosts see; a place that cannot be written to is found out before any step.
        parent = request.checkpoint;
        if (locks.take_folder("--checkpoint", parent)) {
            remove_left_folders(parent);
        }
    }
    require_mpirun();
    const NewFolder place(parent, kRunFolderPrefix);
    const RunFolder folder(place.path());
    if (isatty(STDOUT_FILENO) == 1) {
        folder.mark_terminal();
    }
    const Launch launch = launch_of(request, setup, rank_arguments);
    std::cout.flush();
    if (request.is_supervised) {
        supervise(request, setup, launch, folder);
        return;
    }
    const LaunchOutcome outcome = run_under_mpirun(launch, folder);
    report_failure(outcome, folder, outcome.exit_code == 0 ? "" : advice_of(setup));
}

}  // namespace auspex::launch
