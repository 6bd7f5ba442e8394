#pragma once
/// @file Plays what ranks do on their cores, event by event.
#include <vector>

#include "models/machine.hpp"
#include "sim/cpu/actions.hpp"
#include "sim/cpu/play_result.hpp"
#include "sim/cpu/rank_locations.hpp"
#include "sim/cpu/scheduler.hpp"

namespace auspex::cpu {

/// All ranks begin at 0. A message costs
///   - its sender path.send_s + bytes * path.send_byte_s of its core. It has then done with a message of up to
///     path.eager_bytes, with a longer one when the receiver has taken it;
///   - between nodes the wires: it flows over both NICs (host_wires.hpp), a longer one not before the receiver has
///   asked
///     for it and the sender is in a send or a wait, and arrives latency_s after its last byte;
///   - its receiver, once it has arrived and the receiver waits, path.receive_s + bytes * path.receive_byte_s of its
///     core, and rendezvous_s for a longer one.
/// Processes of others (RankLocations::others) take turns as ranks do, always compute, and end with the last rank.
/// Time counts as the row's loss; as waiting while the rank could run and has no core, and after its end. Aborts
/// (invariant) if ranks wait for one another for ever. Ignores: copies' use of the cache, an end of MPI's
/// progress while the sender of a message that flows computes.
[[nodiscard]] CpuPlayResult play_cpu_program(const models::Machine& machine, const RankLocations& locations,
                                             WaitPolicy wait_policy, const CpuProgram& program);

}  // namespace auspex::cpu
