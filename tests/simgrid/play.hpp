#pragma once
/// @file The same case in both simulators. Each returns, by collective, the time at which its last rank is done.
#include <string>
#include <vector>

#include "cases.hpp"

namespace auspex::simgrid_check {

/// Phases of flows and their rates from Network. Collectives that run at the same time share links pattern by pattern.
[[nodiscard]] std::vector<double> play_auspex(const Case& of);

/// kFree: a rank goes on when its own messages are done. kInStep: a barrier ends every round of a collective, as a
/// phase ends with its slowest flow; collectives whose ranks have unequal rounds run free.
enum class Ranks { kFree, kInStep };

/// SimGrid S4U, network model CM02: links and explicit routes of the fabric, an actor for each track. Once a process:
/// SimGrid's engine cannot be made twice. Requires routes that do not split.
[[nodiscard]] std::vector<double> play_simgrid(const Case& of, Ranks ranks);

[[nodiscard]] std::string simgrid_version();

}  // namespace auspex::simgrid_check
