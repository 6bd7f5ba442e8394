#pragma once
/// @file How the engine divides an actor's time into losses.
#include "sim/engine/player_state.hpp"

namespace auspex::engine {

/// The time since the last account up to `until` counts as `loss`.
void account(ActorState& actor, schedule::Loss loss, Picoseconds until);

/// Of a wait up to `until` at most, for something that others brought about: what it is longer than it would be without
/// slow links, uneven routing and noise counts as these. The rest is left to the caller.
/// Returns what counts as slow links.
Picoseconds account_delay(ActorState& actor, Picoseconds until, const DelayedTime& others);

/// A wait for a message, up to the actor's clock. Returns what counts as slow links before it was sent.
Picoseconds account_receive(ActorState& actor, const Message& message);

/// The compute task in flight has taken so much longer by now than alone: what is not booked of it counts as the
/// interference of the collective that came last.
void account_slowed(ActorState& actor, Picoseconds slowed);

/// The compute task in flight has ended: its own parts, and what collectives beside it took.
void account_compute(ActorState& actor, Picoseconds ended);

/// Fills the rest of the step. Aborts (invariant) if the losses do not sum to it.
void close_account(ActorState& actor, Picoseconds step);

}  // namespace auspex::engine
