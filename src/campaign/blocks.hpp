#pragma once
/// @file When jobs may run: blocks of walltime, maintenance of the machine.
#include "campaign/quantities.hpp"
#include "campaign/setting.hpp"

namespace auspex::campaign {

/// A stretch of time: begin <= end.
struct Stretch {
    Nanoseconds begin = kNever, end = kNever;
};

/// The maintenance that goes on at this time, or the next one; at kNever where there is none.
[[nodiscard]] Stretch maintenance_from(const Blocks& blocks, Nanoseconds now);

/// A job that is ready to begin at `now` and needs `least` to do anything: from when until when it may hold its nodes.
/// It waits for the end of a maintenance that goes on, or that begins before it has done anything.
[[nodiscard]] Stretch block_from(const Blocks& blocks, Nanoseconds now, Nanoseconds least);

}  // namespace auspex::campaign
