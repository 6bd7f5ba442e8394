#pragma once
/// @file Messages under way, cut into pieces that MPI can count.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "exec/communicator.hpp"

namespace auspex {

/// What MPI returns where it does not end the program.
inline void check_mpi(int code) {
    if (code != MPI_SUCCESS) {
        std::array<char, MPI_MAX_ERROR_STRING> text{};
        int length = 0;
        MPI_Error_string(code, text.data(), &length);
        throw CommunicationError("MPI: " + std::string(text.data(), static_cast<std::size_t>(length)));
    }
}

/// Transfers under way between this rank and others of one communicator, cut into pieces that MPI can count. Pieces
/// between two ranks stay in order.
class Transfers {
 public:
    Transfers(MPI_Comm comm, std::size_t longest) : comm_(comm), longest_(longest) {}

    void send(const std::byte* data, std::size_t bytes, int to, int tag = 0) {
        for_pieces(bytes, [&](std::size_t at, int length) {
            check_mpi(MPI_Isend(data + at, length, MPI_BYTE, to, tag, comm_, &requests_.emplace_back()));
        });
    }
    void send_empty(int to) { check_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, to, 0, comm_, &requests_.emplace_back())); }
    void receive(std::byte* data, std::size_t bytes, int from, int tag = 0) {
        for_pieces(bytes, [&](std::size_t at, int length) {
            check_mpi(MPI_Irecv(data + at, length, MPI_BYTE, from, tag, comm_, &requests_.emplace_back()));
            expected_.emplace_back(requests_.size() - 1, length);
        });
    }
    /// Waits for all; what came must have the length that was expected.
    void wait() {
        std::vector<MPI_Status> statuses(requests_.size());
        check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), statuses.data()));
        for (const auto& [request, length] : expected_) {
            int came = 0;
            check_mpi(MPI_Get_count(&statuses[request], MPI_BYTE, &came));
            if (came != length) {
                throw CommunicationError("a message of " + std::to_string(came) + " bytes came where " +
                                         std::to_string(length) + " were expected");
            }
        }
    }
    [[nodiscard]] bool have_ended() {
        int ended = 0;
        check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &ended, MPI_STATUSES_IGNORE));
        return ended != 0;
    }

 private:
    template <typename Piece>
    void for_pieces(std::size_t bytes, Piece piece) const {
        for (std::size_t at = 0; at < bytes; at += longest_) {
            piece(at, static_cast<int>(std::min(longest_, bytes - at)));
        }
    }

    MPI_Comm comm_;
    std::size_t longest_;
    std::vector<MPI_Request> requests_;
    std::vector<std::pair<std::size_t, int>> expected_;  ///< (request, bytes) of what is received
};

}  // namespace auspex
