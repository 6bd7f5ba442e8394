/// @file A lock, then one process or a launch.
#include "workflows/blend/blend_job.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "base/error.hpp"
#include "exec/blend/blend_file.hpp"
#include "exec/blend/shared_file.hpp"
#include "launch/child_process.hpp"
#include "launch/mpirun.hpp"
#include "launch/new_folder.hpp"
#include "launch/output_locks.hpp"
#include "launch/train/child_run.hpp"

namespace auspex::workflows {
namespace {

void require_success(const launch::LaunchOutcome& outcome) {
    if (outcome.interrupted_by != 0) {
        throw launch::Interrupted(outcome.interrupted_by, "interrupted; no blend was written");
    }
    if (!outcome.error.empty()) {
        const std::size_t colon = std::min(outcome.error.find(": "), outcome.error.size());
        throw InputError(outcome.error.substr(0, colon),
                         outcome.error.substr(std::min(colon + 2, outcome.error.size())));
    }
    if (outcome.exit_code != 0) {
        throw std::runtime_error(!outcome.failure.empty() ? outcome.failure
                                                          : "mpirun ended with " + std::to_string(outcome.exit_code) +
                                                                ": " + launch::last_lines(outcome.other_lines));
    }
}

void build_under_mpirun(const BlendJob& job) {
    launch::require_mpirun();
    const launch::NewFolder scratch(launch::temporary_folder(), launch::kRunFolderPrefix);
    launch::Launch launch;
    launch.arguments = job.rank_arguments;
    launch.ranks = job.ranks;
    launch.hostfile = job.hostfile;
    launch.mpirun_flags = job.mpirun_flags;
    try {
        require_success(run_under_mpirun(launch, launch::RunFolder(scratch.path())));
    } catch (...) {
        std::remove((job.blend.file + ".partial").c_str());  // where rank 0 was ended before it could
        throw;
    }
}

}  // namespace

exec::BlendInfo run_blend_job(const BlendJob& job, const exec::BlendProgress& progress) {
    static_cast<void>(describe_blend(job.blend));
    launch::OutputLocks locks(job.command_line);
    locks.take_file("--out " + job.blend.file, job.blend.file);
    if (!job.needs_mpirun()) {
        return build_blend(job.blend, progress);
    }
    if (std::error_code status; std::filesystem::exists(job.blend.file, status)) {
        throw InputError(job.blend.file, exec::kFileIsThere);
    }
    build_under_mpirun(job);
    return exec::BlendFile(job.blend.file).info();
}

}  // namespace auspex::workflows
