#pragma once
/// @file Ranks as processes under Open MPI.
#include <memory>

#include "exec/communicator.hpp"

namespace auspex {

/// Longer messages go in pieces; MPI counts bytes in 31 bits.
inline constexpr std::size_t kLongestMpiMessage = std::size_t{1} << 30U;

/// MPI from construction to destruction; one thread of the process calls it.
class MpiSession {
 public:
    MpiSession(int* argc, char*** argv);
    ~MpiSession();
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    [[nodiscard]] int rank() const;
    [[nodiscard]] int size() const;
    /// Ends every rank of the job with this exit code.
    [[noreturn]] static void abort(int exit_code);
};

/// The communicator of this process. Requires layout.tiles == MpiSession::size(); collective over the world.
[[nodiscard]] std::unique_ptr<Communicator> make_mpi_communicator(const Layout& layout,
                                                                  std::size_t longest_message = kLongestMpiMessage);

}  // namespace auspex
