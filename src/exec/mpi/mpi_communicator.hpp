#pragma once
/// @file Ranks as processes under Open MPI.
#include <memory>

#include "exec/mpi/mpi_session.hpp"
#include "exec/transport/round_communicator.hpp"
#include "models/stack.hpp"

namespace auspex::exec {

/// Longer messages go in pieces; MPI counts bytes in 31 bits.
inline constexpr std::size_t kLongestMpiMessage = std::size_t{1} << 30U;

/// How collectives use MPI, which moves bytes from one rank to another and nothing else (broadcast and barrier apart):
/// round by round, as schedule/rounds says.
struct MpiTransport {
    std::size_t longest_message = kLongestMpiMessage;
    std::size_t gathered_all_reduce_bytes = kSmallAllReduce;
};
/// What the stack's section `processes` says, or the defaults where it has none.
[[nodiscard]] MpiTransport transport_of(const models::Stack& stack);

/// The communicator of this process. Requires layout.tiles == MpiSession::size(); collective over the world.
[[nodiscard]] std::unique_ptr<Communicator> make_mpi_communicator(const models::Layout& layout,
                                                                  const MpiTransport& transport = {});

}  // namespace auspex::exec
