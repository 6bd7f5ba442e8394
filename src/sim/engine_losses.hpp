#pragma once
/// @file How the engine divides an actor's time into losses.
#include "sim/engine_state.hpp"

namespace auspex {

/// The time since the last account up to `until` counts as `loss`.
void account(ActorState& actor, Loss loss, Picoseconds until);

/// Of a wait up to `until` for something that others brought about with these delays: what they have more of than the
/// actor counts as imbalance, then as jitter. The rest is left to the caller. Who has waited has their delay from then
/// on.
void account_delay(ActorState& actor, Picoseconds until, const Delay& others);

/// The compute piece in flight has ended: its own parts, and what collectives beside it took.
void account_compute(ActorState& actor, Picoseconds ended);

/// Fills the rest of the step. Aborts (invariant) if the losses do not sum to it.
void close_account(ActorState& actor, Picoseconds step);

}  // namespace auspex
