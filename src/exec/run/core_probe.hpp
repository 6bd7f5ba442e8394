#pragma once
/// @file How fast a core is just now: what timings minutes apart need to be compared.
#include <vector>

namespace auspex::exec {

/// The calling thread's own clock: seconds that it has had a core.
[[nodiscard]] double thread_seconds();

/// A fixed piece of work, some 0.4 ms: products of 64 x 64 matrices in the core's own caches.
///
/// Cores of a virtual machine have two speeds or more: while a neighbour computes on the other thread of the same
/// physical core, such products take 1.3 times as long, for seconds or minutes.
class CoreProbe {
 public:
    CoreProbe();
    /// Seconds of one of its five parts, the median, by the calling thread's own clock: time that other processes have
    /// the core does not count, a core that is slower does (its clock, or a neighbour on the other thread of it).
    [[nodiscard]] double seconds();

 private:
    std::vector<float> a_, b_, c_;
};

/// Probes up to this many times the fastest ones are those of a core at its full speed: above what its clock does by
/// itself (5 %), below what a neighbour costs.
inline constexpr double kUndisturbedProbe = 1.1;

/// True if a core that took probe_s is as fast as one that took reference_s at its full speed: neither slower nor
/// faster by more than kUndisturbedProbe, for cost models of a calibration do not hold for cores that are faster than
/// they were then, either.
[[nodiscard]] inline bool has_full_speed(double probe_s, double reference_s) {
    return probe_s <= kUndisturbedProbe * reference_s && reference_s <= kUndisturbedProbe * probe_s;
}

/// Sources of measurements: cores had their full speed, or not.
inline constexpr const char* kThisMachine = "this machine";
inline constexpr const char* kSlowed = "this machine (slowed)";

}  // namespace auspex::exec
