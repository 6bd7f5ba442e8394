#pragma once
/// @file One run of auspex-mpi under mpirun, watched from start to end.
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/run_folder.hpp"

namespace auspex {

struct Launch {
    std::vector<std::string> arguments;  ///< of auspex-mpi
    int ranks = 1;
    std::string hostfile;       ///< may be empty
    std::string mpirun_flags;   ///< more flags, separated by spaces
    double hang_timeout_s = 0;  ///< 0: any time
    int steps = 0;              ///< of the whole run, for the line on the terminal
};

struct LaunchOutcome {
    int exit_code = 0;       ///< of mpirun; 128 + signal where that ended it
    int interrupted_by = 0;  ///< the signal that this process got and passed on, or 0
    bool hung = false;
    std::optional<int> hung_rank;    ///< if it can be told
    std::optional<int> killed_rank;  ///< a rank that a signal ended
    int kill_signal = 0;
    std::string error, failure;            ///< behind "auspex: error: " and "auspex: failed: ", or empty
    std::vector<std::string> other_lines;  ///< of mpirun, the last ones
};

/// True inside a rank that mpirun, srun or a PBS launcher has started.
[[nodiscard]] bool is_launched_by_mpi();
/// auspex-mpi, beside this program. Throws std::runtime_error if it is not there.
[[nodiscard]] std::string mpi_program();

/// Starts and waits. Lines of ranks are shown as they come, what mpirun says is kept. SIGINT and SIGTERM are passed on.
/// Throws InputError where there is no mpirun.
[[nodiscard]] LaunchOutcome run_under_mpirun(const Launch& launch, const RunFolder& folder);

}  // namespace auspex
