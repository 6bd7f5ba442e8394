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

}  // namespace auspex::exec
