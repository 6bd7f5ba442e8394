#pragma once
/// @file Plays what ranks do on their cores, event by event.
#include <vector>

#include "models/machine.hpp"
#include "sim/cpu/actions.hpp"
#include "sim/cpu/play_result.hpp"
#include "sim/cpu/rank_locations.hpp"
#include "sim/cpu/scheduler.hpp"

namespace auspex::cpu {

/// All ranks begin at time 0. A message costs (MessageCosts of its path, intra-node or inter-node)
///   - its sender send_cpu_s of its core. The send of a message of up to eager_bytes and buffered_bytes has then ended;
///     beyond buffered_bytes it ends when the receiver has polled, beyond eager_bytes when it has received;
///   - between nodes the network: it flows over both NICs (nic_flows.hpp) and arrives latency_s after its last
///     byte. One beyond eager_bytes flows only when its receive is posted and the sender is in a send or a wait;
///   - its receiver, once it has arrived and the receiver waits, receive_cpu_s of its core.
/// Background processes (RankLocations::background_processes) are scheduled as ranks are, always compute, and end with
/// the last rank. Time counts as the operation's loss; as waiting while the rank could run and has no core, and after
/// its end. Aborts (invariant) if ranks wait for one another for ever. Ignores: copies' use of the cache, an end of
/// MPI's progress while the sender of a message that flows computes.
[[nodiscard]] CpuPlayResult play_cpu_program(const models::Machine& machine, const RankLocations& locations,
                                             WaitPolicy wait_policy, const CpuProgram& program);

}  // namespace auspex::cpu
