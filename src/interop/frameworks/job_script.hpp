#pragma once
/// @file Scripts that a batch system runs.
#include <string>

#include "interop/emission.hpp"
#include "models/jobs/launch_settings.hpp"

namespace auspex::interop {

struct Job {
    std::string name;  ///< of the job
    Emission emission;
    int nodes = 1, ranks = 1, ranks_per_node = 1;
    double walltime_s = 0;
    std::string walltime_says;        ///< how that was come by
    std::string predicted_with;       ///< what with: stack and machine
    std::string repeat;               ///< the command that makes this file
    models::LaunchSettings launch;    ///< of the machine
    std::string in_one_job;           ///< how much of the run it has, where a limit cuts it; else empty
    models::Environment environment;  ///< of the stack
    std::string left_out;             ///< what of the stack's environment is not set, and why; else empty
};

/// A script to submit. A rank has the tile of its number on the node, LOCAL_RANK. The machine's file says with what
/// ranks are started, on which cores, and with which variables; without that section PBS has HPE's mpiexec (PALS),
/// Slurm srun. Project, queue and file systems are left to the submitting command, which is in a comment.
[[nodiscard]] std::string job_script(const Job& job, models::BatchSystem system);

}  // namespace auspex::interop
