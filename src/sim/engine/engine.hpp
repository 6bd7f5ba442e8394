#pragma once
/// @file The discrete-event engine: plays a costed program in virtual time, transfers sharing links max-min fairly.
#include <cstdint>
#include <map>
#include <vector>

#include "schedule/timeline.hpp"
#include "sim/engine/costed_program.hpp"
#include "sim/engine/play_result.hpp"
#include "sim/engine/recording.hpp"
#include "sim/network/collective/network.hpp"

namespace auspex::engine {

/// Plays the program with one actor a role: a communication stands for all sibling groups of the stage. Deterministic:
/// events are ordered by (time, sequence). Aborts (invariant) if a role cannot finish. Throws InputError for a step of
/// kLongestTime or more. Ends as soon as the step is known to take longer than `most`. `recorded`: with a timeline, the
/// operations of its spans.
[[nodiscard]] PlayResult play(const CostedProgram& costed, network::Network& network, schedule::Timeline* timeline,
                              Picoseconds most = kLongestTime, RecordedOperations* recorded = nullptr);

/// The same without a network: every transfer takes its solo time, and shares no link.
[[nodiscard]] PlayResult play_alone(const CostedProgram& costed, schedule::Timeline& timeline);

}  // namespace auspex::engine
