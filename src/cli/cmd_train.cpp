/// @file auspex train: checks everything, then starts auspex-mpi under mpirun, or becomes a rank where that has been
/// done already.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iostream>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/train_launch.hpp"
#include "cli/train_setup.hpp"
#include "cli/train_supervise.hpp"

namespace auspex {
namespace {

namespace fs = std::filesystem;

/// A new folder; removed at the end. With a supervised run it lies beside the checkpoints, which all hosts see.
class NewFolder {
 public:
    explicit NewFolder(const Options& options) {
        std::error_code status;
        fs::path parent = fs::temp_directory_path(status);
        if (options.train.supervise) {
            parent = options.train.checkpoint;
            fs::create_directories(parent, status);
        }
        path_ = fs::absolute(parent, status).string() + "/auspex-run-XXXXXX";
        if (mkdtemp(path_.data()) == nullptr) {
            throw InputError(parent.string(), "found a folder that cannot be written to (" +
                                                  std::string(std::strerror(errno)) + "); expected one that can");
        }
    }
    ~NewFolder() {
        std::error_code status;
        fs::remove_all(path_, status);
    }
    NewFolder(const NewFolder&) = delete;
    NewFolder& operator=(const NewFolder&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

 private:
    std::string path_;
};

/// This process is a rank: auspex-mpi takes its place.
[[noreturn]] void become_rank(const Options& options) {
    const std::string program = mpi_program();
    std::vector<std::string> words{program};
    words.insert(words.end(), options.arguments.begin(), options.arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    setenv("OMP_NUM_THREADS", "1", 1);
    execv(program.c_str(), argv.data());
    throw std::runtime_error("could not start " + program + ": " + std::strerror(errno));
}

std::string advice_of(const TrainSetup& setup) {
    if (setup.options.checkpoint_folder.empty()) {
        return "; without --checkpoint there is nothing to go on from";
    }
    const int step = step_of_checkpoint(setup);
    return step < 0 ? "; no checkpoint was written yet"
                    : "; --resume goes on from the checkpoint after " + std::to_string(step) + " steps";
}

}  // namespace

void run_train(const Options& options) {
    if (is_launched_by_mpi()) {
        become_rank(options);
    }
    const TrainSetup setup = load_train_setup(options, 0);
    const NewFolder place(options);
    const RunFolder folder(place.path());
    if (isatty(STDOUT_FILENO) == 1) {
        folder.mark_terminal();
    }
    Launch launch;
    launch.arguments = options.arguments;
    launch.ranks = setup.run.layout.tiles;
    launch.hostfile = options.train.hostfile;
    launch.mpirun_flags = options.train.mpirun;
    launch.steps = options.train.steps;
    std::cout.flush();
    if (options.train.supervise) {
        supervise(options, setup, launch, folder);
        return;
    }
    const LaunchOutcome outcome = run_under_mpirun(launch, folder);
    report_failure(outcome, folder, outcome.exit_code == 0 ? "" : advice_of(setup));
}

}  // namespace auspex
