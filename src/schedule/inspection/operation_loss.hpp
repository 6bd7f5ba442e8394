#pragma once
/// @file The part of a step's time that an operation is booked as.
#include "schedule/losses.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// Where the time goes that an operation holds its rank. Compute by its phase: recompute, optimizer, else useful; a
/// host that only synchronises is waiting. A communication by its stream: exposed tp, ep, dp, pp, cp; what all ranks do
/// together is waiting.
[[nodiscard]] Loss loss_of(const Operation& op);

}  // namespace auspex::schedule
