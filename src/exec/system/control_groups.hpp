#pragma once
/// @file What Linux's control groups leave a process of the computer's memory and cores: limits of containers and batch
/// jobs.
#include <limits>
#include <string>

namespace auspex::exec {

/// Infinite where nothing limits.
struct GroupLimits {
    double memory_bytes = std::numeric_limits<double>::infinity();
    double cores =
        std::numeric_limits<double>::infinity();  ///< processor time a second; beyond it processes are stopped
};

/// The tightest limits on the way from this process's group up to the root, as far as it can see: `memory.max` and
/// `cpu.max` (version 2), `memory.limit_in_bytes` and `cpu.cfs_quota_us` over `cpu.cfs_period_us` (version 1), both
/// where both are mounted. `process`: the folder with the process's `cgroup` and `mountinfo`. What cannot be read
/// limits nothing.
[[nodiscard]] GroupLimits group_limits(const std::string& process = "/proc/self");

}  // namespace auspex::exec
