#pragma once
/// @file Ranks as threads of one process: for tests, and for machines without MPI.
#include <functional>

#include "exec/transport/round_communicator.hpp"

namespace auspex::exec {

/// A message that a rank has sent, of a collective or to a stage beside.
struct SentMessage {
    int from = 0, to = 0;  ///< ranks of the world
    std::size_t bytes = 0;
};

struct InProcessOptions {
    std::size_t gathered_all_reduce_bytes = kSmallAllReduce;  ///< RoundCommunicator
    std::function<void(const SentMessage&)> on_message;       ///< called by the sender's thread, if set
};

/// Barriers and broadcasts are meetings, without messages; all else is sent as over MPI.
/// Runs `body` on layout.tiles threads, each with its communicator, and waits for all. If one throws, the others'
/// communication throws CommunicationError, and the first exception is thrown again here.
void run_in_process(const models::Layout& layout, const std::function<void(Communicator&)>& body,
                    const InProcessOptions& options = {});

}  // namespace auspex::exec
