/// @file Run by mpirun: every call gives the bits that threads of one process give. Exit code 0 if so.
#include <cstdlib>
#include <iostream>

#include "communicator_cases.hpp"
#include "exec/in_process.hpp"
#include "exec/mpi/mpi_communicator.hpp"

namespace auspex {
namespace {

/// True if this process got what its counterpart among threads got.
bool agrees(const Layout& layout, int rank, std::size_t longest_message) {
    std::vector<std::byte> expected;
    run_in_process(layout, [&](Communicator& communicator) {
        std::vector<std::byte> journal = testing_exec::run_all_cases(communicator);
        if (communicator.world_rank() == rank) {
            expected = std::move(journal);
        }
    });
    const std::unique_ptr<Communicator> communicator = make_mpi_communicator(layout, longest_message);
    return testing_exec::run_all_cases(*communicator) == expected;
}

}  // namespace
}  // namespace auspex

int main(int argc, char** argv) {
    const auspex::MpiSession session(&argc, &argv);
    constexpr std::size_t kShortPieces = 1000;
    bool fine = session.size() == 4;
    for (const auspex::Layout& layout : {auspex::testing_exec::grid(2, 1, 2, 1), auspex::testing_exec::grid(1, 2, 1, 2),
                                         auspex::testing_exec::grid(4, 1, 1, 1)}) {
        for (const std::size_t longest : {auspex::kLongestMpiMessage, kShortPieces}) {
            fine = fine && auspex::agrees(layout, session.rank(), longest);
        }
    }
    if (!fine) {
        std::cerr << "rank " << session.rank() << " got other bits than threads of one process give\n";
        auspex::MpiSession::abort(EXIT_FAILURE);
    }
    return EXIT_SUCCESS;
}
