#pragma once
/// @file Ranks as threads of one process: for tests, and for machines without MPI.
#include <functional>

#include "exec/transport/communicator.hpp"

namespace auspex {

/// Runs `body` on layout.tiles threads, each with its communicator, and waits for all. If one throws, the others'
/// communication throws CommunicationError, and the first exception is thrown again here.
void run_in_process(const Layout& layout, const std::function<void(Communicator&)>& body);

}  // namespace auspex
