/// @file auspex train: starts a run, or becomes a rank of it where a launcher has started this process.
#include <array>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/train_flags.hpp"
#include "launch/messages.hpp"
#include "launch/mpirun.hpp"
#include "launch/train/job.hpp"

namespace auspex::cli {
namespace {

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
        std::this_thread::sleep_for(launch::kRankZeroFirst);
        std::exit(launch::kBadInput);
    }
}

}  // namespace

void run_train(const Options& options) {
    if (const std::optional<int> rank = launch::rank_of_launcher(options.ranks)) {
        refuse_launcher_flags(options.train, *rank);
        launch::become_rank(options.arguments);
    }
    run_train_job(train_request(options), options.arguments);
}

}  // namespace auspex::cli
