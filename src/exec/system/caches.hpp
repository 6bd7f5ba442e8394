#pragma once
/// @file The caches of a core, as the system describes them: the kernel's files, else the processor's own words
/// (CPUID).
#include <string>

namespace auspex::exec {

/// 0 bytes: nothing is told. Virtual machines may be told the sizes of their host, or nothing.
struct ReportedCaches {
    double own_bytes = 0;         ///< the level before the last: a core's own
    double last_level_bytes = 0;  ///< the last level
};

/// Of the first core that this process may use. hwloc asks the kernel, then the processor; where neither says anything
/// the numbers are 0.
[[nodiscard]] ReportedCaches reported_caches();

}  // namespace auspex::exec
