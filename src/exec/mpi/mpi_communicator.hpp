#pragma once
/// @file Ranks as processes under Open MPI.
#include <memory>

#include "exec/mpi/mpi_session.hpp"
#include "exec/transport/communicator.hpp"
#include "models/stack.hpp"

namespace auspex {

/// Longer messages go in pieces; MPI counts bytes in 31 bits.
inline constexpr std::size_t kLongestMpiMessage = std::size_t{1} << 30U;

/// Up to here an all-reduce sends everyone's data to everyone, where the stack does not say it.
inline constexpr std::size_t kSmallAllReduce = 4096;

/// How collectives use MPI, which moves bytes from one rank to another and nothing else (broadcast and barrier apart).
///
/// With n members, each but `all_gather` starting all its messages at once and waiting for all of them:
///   all_reduce up to gathered_all_reduce_bytes: all data to every other member, who joins it;
///   longer: segment i of n equal ones to member i, who joins what came, and sends the sum to every other;
///   reduce_scatter: the first half of that;
///   all_gather: a ring of n - 1 rounds, each a message to the next member and one from the previous;
///   all_to_all: every part to its member.
struct MpiTransport {
    std::size_t longest_message = kLongestMpiMessage;
    std::size_t gathered_all_reduce_bytes = kSmallAllReduce;
};
/// What the stack's section `processes` says, or the defaults where it has none.
[[nodiscard]] MpiTransport transport_of(const Stack& stack);

/// The communicator of this process. Requires layout.tiles == MpiSession::size(); collective over the world.
[[nodiscard]] std::unique_ptr<Communicator> make_mpi_communicator(const Layout& layout,
                                                                  const MpiTransport& transport = {});

}  // namespace auspex
