#pragma once
/// @file The discrete-event engine: plays a costed program in virtual time, transfers sharing links max-min fairly.
#include <cstdint>
#include <map>
#include <vector>

#include "schedule/timeline.hpp"
#include "sim/costed_program.hpp"
#include "sim/network.hpp"

namespace auspex {

struct PlayResult {
    Picoseconds step = 0;
    Picoseconds forward_backward = 0;  ///< end of the last backward piece of anyone
    std::vector<LossTimes> losses;     ///< by actor (role, or rank of the unfolded lens); each sums to `step`
    /// By operation_name_index, sum over actors: how much longer transfers that shared links took than they would have
    /// alone.
    std::vector<double> shared_link_excess_s;
    std::vector<double> waited_for_s;  ///< by actor: how long others in its groups have waited for it, summed
    /// Unfolded, by link that is slow by request: how much longer transfers that it bounds took than at full capacity,
    /// and others waited for those; sum over actors.
    std::map<std::uint32_t, double> slow_link_s;
    std::uint64_t events = 0;  ///< pieces ended and messages sent, and every change of a shared transfer
};

/// Plays the program with one actor a role: a communication stands for all sibling groups of the stage. Deterministic:
/// events are ordered by (time, sequence). Aborts (invariant) if a role cannot finish. Throws InputError for a step of
/// kLongestTime or more.
[[nodiscard]] PlayResult play(const CostedProgram& costed, Network& network, Timeline* timeline);

}  // namespace auspex
