#pragma once
/// @file Scripts that a batch system runs.
#include <string>

#include "interop/settings.hpp"
#include "models/layout.hpp"
#include "models/machine.hpp"

namespace auspex::interop {

enum class BatchSystem { kPbs, kSlurm };

struct Job {
    std::string name;     ///< of the job
    std::string program;  ///< what ranks run: "pretrain_gpt.py"
    Settings settings;    ///< its arguments
    Settings trial;       ///< those that its user replaces: data, tokenizer, forced routing
    int nodes = 1, ranks = 1, ranks_per_node = 1;
    double walltime_s = 0;
    std::string walltime_says;   ///< how that was come by
    std::string predicted_with;  ///< what with: stack and machine
    std::string repeat;          ///< the command that makes this file
};

/// NAME=( … ), one argument a line, each with the field that it comes from.
[[nodiscard]] std::string arguments_text(const std::string& name, const Settings& settings);
/// A script to submit. One rank has one tile: its number on the node is LOCAL_RANK. On Aurora each rank has
/// cores of one socket, and oneCCL's settings are three that ALCF recommends. PBS: with HPE's mpiexec (PALS). Project,
/// queue and file systems are left to the submitting command, which is in a comment.
[[nodiscard]] std::string job_script(const Job& job, BatchSystem system, const models::Machine& machine);

}  // namespace auspex::interop
