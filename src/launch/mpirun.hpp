#pragma once
/// @file One run of auspex-mpi under mpirun, watched from start to end: of a training, or of measurements.
#include <optional>
#include <string>
#include <vector>

#include "launch/launch_outcome.hpp"
#include "launch/run_folder.hpp"

namespace auspex::launch {

struct Launch {
    std::vector<std::string> arguments;  ///< of auspex-mpi: the flags of `auspex train`, or "measure" and what follows
    int ranks = 1;
    bool waits_by_yielding = true;  ///< Stack::waits_by_yielding: a rank that waits gives its core to others
    std::string hostfile;           ///< may be empty
    std::string mpirun_flags;       ///< more flags, separated by spaces
    double hang_timeout_s = 0;      ///< 0: any time
    int steps = 0;                  ///< of the whole run, for the line on the terminal
};

/// The first argument of auspex-mpi as a rank of a search; the flags of `auspex plan` follow.
inline constexpr const char* kSearchRole = "plan";
/// Likewise as a rank of those that build a blend; the flags of `auspex data blend` follow.
inline constexpr const char* kBlendRole = "blend";

/// The number of this process among those that a launcher has started, or none: OMPI_COMM_WORLD_RANK of Open MPI;
/// SLURM_PROCID in a Slurm step of several tasks, or of one where `ranks` (0: not known) is 1, but not in one of a
/// single task with a shell in it; else PMIX_RANK or PMI_RANK.
[[nodiscard]] std::optional<int> rank_of_launcher(int ranks);

/// This process is a rank that a launcher has started: auspex-mpi takes its place, with these arguments. Throws
/// std::runtime_error where it cannot be started.
[[noreturn]] void become_rank(const std::vector<std::string>& arguments);

/// Throws InputError where there is no mpirun in the PATH, or ranks could not be started in the working directory.
void require_mpirun();

/// Starts and waits. What ranks print is passed on as it comes, what mpirun says is kept. kEndSignals
/// (child_process.hpp) are passed on. Ranks of this host that outlive mpirun are killed. Throws InputError where there
/// is no mpirun.
[[nodiscard]] LaunchOutcome run_under_mpirun(const Launch& launch, const RunFolder& folder);

}  // namespace auspex::launch
