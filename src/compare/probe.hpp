#pragma once
/// @file A short, fixed piece of work that tells how fast the machine is just now, and whether it is disturbed.
#include <vector>

namespace auspex {

/// What a probe of one core saw.
struct ProbeReading {
    double seconds = 0;       ///< of the fixed work (products of matrices in the cache and a pass over memory), by the
                              ///< thread's own clock: median over its pieces. How fast the core is while it runs
    double stolen_share = 0;  ///< of the wall time, that the thread did not run: another process, or the hypervisor
    double worst_ratio = 1;   ///< slowest of its pieces over the median one
};

/// One thread bound to each core this process may use, all at once, for about `budget_s` (at least five pieces of some
/// 2 ms); a reading for each core. Throws std::runtime_error where no thread can be bound.
[[nodiscard]] std::vector<ProbeReading> probe_cores(double budget_s);

/// Seconds of the work, the median over cores. Requires a reading.
[[nodiscard]] double probe_seconds(const std::vector<ProbeReading>& readings);

/// True if the readings say that something else runs: stolen time above 5 % on a core, or a core 15 % slower than
/// `reference_s` (0: no reference).
[[nodiscard]] bool is_disturbed(const std::vector<ProbeReading>& readings, double reference_s);

/// What the kernel has counted since some time long ago, over the cores this process may use: /proc/stat. Zero where
/// that cannot be read.
struct CoreClock {
    double busy_s = 0;      ///< that processes of this system ran
    double stolen_s = 0;    ///< that a hypervisor gave to others
    double children_s = 0;  ///< processor time of this process and of its children that have ended
    double wall_s = 0;
    int cores = 0;
};
[[nodiscard]] CoreClock core_clock();

/// Share of the cores' time between two readings that others had: processes that are no children of this one, and the
/// hypervisor. Children that have not ended count as others.
[[nodiscard]] double share_of_others(const CoreClock& begin, const CoreClock& end);

}  // namespace auspex
