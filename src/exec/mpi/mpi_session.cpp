/// @file The start and the end of MPI.
#include "exec/mpi/mpi_session.hpp"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdlib>

#include "exec/transport/communicator.hpp"

namespace auspex::exec {

MpiSession::MpiSession(int* argc, char*** argv) {
    int provided = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED) {
        throw CommunicationError("MPI could not be started");
    }
}

MpiSession::~MpiSession() { MPI_Finalize(); }

int MpiSession::rank() const {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int MpiSession::size() const {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

void MpiSession::abort(int exit_code) {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
}

}  // namespace auspex::exec
