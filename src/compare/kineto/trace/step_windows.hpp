#pragma once
/// @file Steps of a trace: where each begins and ends, and which one is taken.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/kineto/trace/trace.hpp"

namespace auspex::kineto {

/// For each device event: the call that launched it, by its correlation (into Trace::launches); kNone: not told.
[[nodiscard]] std::vector<std::uint32_t> launches_of(const Trace& trace);

/// One step of one rank, nanoseconds of the trace's clock.
///
/// With a device: [first kernel that was launched within the mark, the same of the next step); of the last step until
/// its last kernel, or as long as its mark on the host lasts, whichever is longer. Without: the mark.
struct StepWindow {
    std::int64_t number = -1;  ///< of ProfilerStep#N; -1: the whole trace
    std::int64_t start = 0, end = 0;
    std::int64_t host_start = 0, host_end = 0;  ///< what was launched between belongs to it
    [[nodiscard]] std::int64_t length() const { return end - start; }
};

/// In the order of their numbers. Without marks the whole trace as one, number -1. Steps in which nothing ran are left
/// out; throws InputError where that leaves none.
[[nodiscard]] std::vector<StepWindow> step_windows(const Trace& trace);

/// One window of each trace, all of one number: `wanted`, or of those that all have the one whose length, the mean over
/// ranks, is the median (the shorter of two in the middle). Throws InputError where a trace has no step `wanted`, or
/// the traces have none in common.
[[nodiscard]] std::vector<StepWindow> choose_steps(const std::vector<Trace>& traces,
                                                   std::optional<std::int64_t> wanted);

}  // namespace auspex::kineto
