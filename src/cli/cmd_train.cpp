/// @file auspex train: checks everything, then starts auspex-mpi under mpirun, or becomes a rank where that has been
/// done already.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "cli/child_process.hpp"
#include "cli/commands.hpp"
#include "cli/installation.hpp"
#include "cli/messages.hpp"
#include "cli/new_folder.hpp"
#include "cli/output_locks.hpp"
#include "cli/train_launch.hpp"
#include "cli/train_setup.hpp"
#include "cli/train_supervise.hpp"

namespace auspex {
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

/// The launcher that has started this process decides where ranks run, and what becomes of them.
void refuse_launcher_flags(const TrainFlags& train) {
    const std::array<std::pair<bool, const char*>, 6> flags{{{train.supervise, "--supervise"},
                                                             {train.buffer_ranks > 0, "--buffer-ranks"},
                                                             {train.hang_timeout_s > 0, "--hang-timeout"},
                                                             {train.max_restarts.has_value(), "--max-restarts"},
                                                             {!train.hostfile.empty(), "--hostfile"},
                                                             {!train.mpirun.empty(), "--mpirun"}}};
    for (const auto& [is_given, name] : flags) {
        if (is_given) {
            throw InputError(name,
                             "found in a rank that an MPI launcher has started; expected it only where auspex "
                             "train starts mpirun itself");
        }
    }
}

/// What rank 0 says is not said again; the others leave it the time to.
void refuse_launcher_flags(const TrainFlags& train, int rank) {
    try {
        refuse_launcher_flags(train);
    } catch (const InputError&) {
        if (rank == 0) {
            throw;
        }
        std::this_thread::sleep_for(kRankZeroFirst);
        std::exit(kBadInput);
    }
}

/// This process is a rank: auspex-mpi takes its place.
[[noreturn]] void become_rank(const Options& options) {
    const std::string program = mpi_program();
    std::vector<std::string> words{program};
    words.insert(words.end(), options.arguments.begin(), options.arguments.end());
    const std::vector<char*> argv = argv_of(words);
    setenv("OMP_NUM_THREADS", "1", 1);
    execv(program.c_str(), argv.data());
    throw std::runtime_error("could not start " + program + ": " + std::strerror(errno));
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

}  // namespace

void run_train(const Options& options) {
    if (const std::optional<int> rank = rank_of_launcher(options.ranks)) {
        refuse_launcher_flags(options.train, *rank);
        become_rank(options);
    }
    check_hostfile(options.train.hostfile);
    const TrainSetup setup = load_train_setup(options, 0);
    const SignalsNoted signals;
    std::string parent;
    OutputLocks locks(options.command_line);
    if (options.train.checkpoint.empty()) {
        parent = temporary_folder();
    } else {
        // Beside the checkpoints, which all hosts see; a place that cannot be written to is found out before any step.
        parent = options.train.checkpoint;
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
    Launch launch;
    launch.arguments = options.arguments;
    launch.ranks = setup.run.layout.tiles;
    launch.waits_by_yielding = !setup.run.stack.has_processes || setup.run.stack.waits_by_yielding;
    launch.hostfile = options.train.hostfile;
    launch.mpirun_flags = options.train.mpirun;
    launch.steps = options.train.steps.value_or(0);
    std::cout.flush();
    if (options.train.supervise) {
        supervise(options, setup, launch, folder);
        return;
    }
    const LaunchOutcome outcome = run_under_mpirun(launch, folder);
    report_failure(outcome, folder, outcome.exit_code == 0 ? "" : advice_of(setup));
}

}  // namespace auspex
