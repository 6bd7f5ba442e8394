#pragma once
/// @file Whether another process or virtual machine uses the cores at the moment.
#include <map>
#include <string>
#include <vector>

namespace auspex::microbench {

/// What a probe of one core saw.
struct ProbeReading {
    double seconds = 0;       ///< CoreProbe::seconds(), the median. How fast the core is while it runs
    double stolen_share = 0;  ///< of the wall time, that the thread did not run: another process, or the hypervisor
};

/// One thread on each of allowed_cores(), all at once, for about `budget_s` (at least five probes of some
/// 0.4 ms); a reading for each core.
[[nodiscard]] std::vector<ProbeReading> probe_cores(double budget_s);

/// True if the readings say that something else runs: stolen time above 20 % on a core, or a core that needs twice
/// `reference_s` (0: no reference). Cores that are slower by less are no disturbance but a speed: predictions follow
/// it.
[[nodiscard]] bool is_disturbed(const std::vector<ProbeReading>& readings, double reference_s);

/// Of the cores' time what the readings miss against cores of one's own: the mean over cores of
/// 1 - (1 - stolen_share) min(1, reference_s / seconds); without a reference of stolen_share.
[[nodiscard]] double taken_share(const std::vector<ProbeReading>& readings, double reference_s);

/// Processor time of a process since it began.
struct ProcessClock {
    int parent = 0;
    double began_s = 0;     ///< since the computer did: tells it from a later one of the same number
    double own_s = 0;       ///< of its threads
    double children_s = 0;  ///< of its children that have ended
    /// Neither this process nor one below it, nor a thread of the kernel (which works for our ranks' messages too), and
    /// last on a core that this process may use.
    bool is_background = false;
    int core = 0;           ///< that it ran on last: which of those that this process may use, in order
    double runnable_s = 0;  ///< that its threads have run or waited for a core
};

/// What the kernel has counted until now: /proc. Empty where that cannot be read.
struct CoreClock {
    double wall_s = 0;
    int cores = 0;                          ///< that this process may use
    double stolen_s = 0;                    ///< on those, that a hypervisor gave to others
    std::map<int, ProcessClock> processes;  ///< all, by number
};
[[nodiscard]] CoreClock core_clock();

/// Share of the cores' time between two readings that others had: the hypervisor's, and what ran of processes that are
/// neither ours nor the kernel's, with their children. The kernel counts whole hundredths of a second of each. Daemons
/// that a launcher of ours has left (new, and adopted by process 1) are ours. Not seen: processes of other containers,
/// and those that began and ended in between without a parent who waited for them.
[[nodiscard]] double background_share(const CoreClock& begin, const CoreClock& end);

/// Sentences about surroundings that timings suffer from, or that hide what disturbs them: a control group that limits
/// time (note_of_limited_cores), a /proc that does not show the processes of others. Empty as a rule.
[[nodiscard]] std::vector<std::string> notes_of_surroundings();

/// How many processes of others could always run between two readings, by core: the sum of what those that were last on
/// it ran and waited for it, over the time, rounded. Empty if none on any core.
[[nodiscard]] std::vector<int> background_by_core(const CoreClock& begin, const CoreClock& end);

/// True if others had more than 5 % of the cores' time and more than 30 ms.
[[nodiscard]] bool had_background_load(const CoreClock& begin, const CoreClock& end);

}  // namespace auspex::microbench
