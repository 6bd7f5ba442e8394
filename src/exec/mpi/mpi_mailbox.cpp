/// @file Sends that do not block, and probes.
#include "exec/mpi/mpi_mailbox.hpp"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <limits>
#include <list>

#include "exec/transport/communicator.hpp"

namespace auspex::exec {
namespace {

constexpr int kTag = 7;

}  // namespace

struct MpiMailbox::Impl {
    /// Not gone yet.
    struct Outgoing {
        std::string bytes;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    std::list<Outgoing> outgoing;
    int rank = 0, size = 1;

    void forget_sent() {
        outgoing.remove_if([](Outgoing& one) {
            int has_gone = 0;
            return MPI_Test(&one.request, &has_gone, MPI_STATUS_IGNORE) != MPI_SUCCESS || has_gone != 0;
        });
    }
};

MpiMailbox::MpiMailbox() : impl_(std::make_unique<Impl>()) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &impl_->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &impl_->size);
}

MpiMailbox::~MpiMailbox() {
    impl_->forget_sent();
    static_cast<void>(impl_->outgoing.empty() ? nullptr : impl_.release());  // MPI still reads what has not gone
}

int MpiMailbox::rank() const { return impl_->rank; }

int MpiMailbox::size() const { return impl_->size; }

void MpiMailbox::send(int to, std::string bytes) {
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        throw CommunicationError("a message of " + std::to_string(bytes.size()) + " bytes, more than MPI can count");
    }
    Impl::Outgoing& one = impl_->outgoing.emplace_back(Impl::Outgoing{std::move(bytes)});
    if (MPI_Isend(one.bytes.data(), static_cast<int>(one.bytes.size()), MPI_BYTE, to, kTag, MPI_COMM_WORLD,
                  &one.request) != MPI_SUCCESS) {
        impl_->outgoing.pop_back();
    }
}

std::optional<std::pair<int, std::string>> MpiMailbox::receive() {
    impl_->forget_sent();
    int is_there = 0, length = 0;
    MPI_Status status{};
    if (MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &is_there, &status) != MPI_SUCCESS || is_there == 0) {
        return std::nullopt;
    }
    MPI_Get_count(&status, MPI_BYTE, &length);
    std::string bytes(static_cast<std::size_t>(length), '\0');
    if (MPI_Recv(bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS) {
        return std::nullopt;
    }
    return std::pair(status.MPI_SOURCE, std::move(bytes));
}

}  // namespace auspex::exec
