#pragma once
/// @file `auspex data blend`: the index of a blend, built by this process or by ranks under mpirun.
#include <string>
#include <vector>

#include "exec/blend/build_blend.hpp"

namespace auspex::workflows {

struct BlendJob {
    exec::BlendRequest blend;
    int ranks = 1;
    std::string hostfile, mpirun_flags;       ///< either is for mpirun, even with one rank
    std::vector<std::string> rank_arguments;  ///< of auspex-mpi, that ask it for the same
    std::string command_line;                 ///< as locks name it

    [[nodiscard]] bool needs_mpirun() const { return ranks > 1 || !hostfile.empty() || !mpirun_flags.empty(); }
};

/// Checks the request, builds, and leaves the file whole or nothing. `progress`: where this process builds. Throws
/// InputError, launch::Interrupted, std::runtime_error.
exec::BlendInfo run_blend_job(const BlendJob& job, const exec::BlendProgress& progress);

}  // namespace auspex::workflows
