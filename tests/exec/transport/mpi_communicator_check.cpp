/// @file Run by mpirun: every call gives the bits that threads of one process give. Exit code 0 if so.
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "communicator_cases.hpp"
#include "exec/mpi/mpi_communicator.hpp"
#include "exec/transport/in_process.hpp"

namespace auspex::exec {
namespace {

constexpr std::size_t kShortPieces = 1000;

/// Grids of this many ranks; with 2, 3 and 5 all of them are one group.
std::vector<models::Layout> grids_of(int ranks) {
    using testing_exec::grid;
    if (ranks == 4) {
        return {grid(2, 1, 2, 1), grid(1, 2, 1, 2), grid(4, 1, 1, 1), grid(1, 4, 1, 1)};
    }
    return {grid(1, ranks, 1, 1), grid(1, 1, ranks, 1), grid(ranks, 1, 1, 1)};
}

/// As it is; in pieces shorter than most messages; and with all-reduces that never, or always, send all data to all.
std::vector<MpiTransport> transports() {
    return {{}, {kShortPieces, kSmallAllReduce}, {kLongestMpiMessage, 0}, {kShortPieces, kLongestMpiMessage}};
}

/// Parts of very uneven sizes go round the ring: only member i has any, or all but member i.
void add_lopsided_gathers(Communicator& communicator, testing_exec::Journal& journal) {
    const auto members = static_cast<std::size_t>(communicator.size(models::GroupKind::kWorld));
    constexpr std::size_t kCount = 3001;
    for (std::size_t i = 0; i < members; ++i) {
        for (const bool is_full : {true, false}) {
            std::vector<std::size_t> offsets{0};
            for (std::size_t j = 0; j < members; ++j) {
                offsets.push_back(offsets.back() + ((j == i) == is_full ? kCount + j : 0));
            }
            std::vector<std::byte> data =
                testing_exec::elements_of(communicator.world_rank(), 80 + i, offsets.back(), ElementType::kBf16);
            communicator.all_gather(models::GroupKind::kWorld, data.data(), offsets, ElementType::kBf16);
            journal.add(data.data(), data.size());
        }
    }
}

std::vector<std::byte> run_cases(Communicator& communicator) {
    testing_exec::Journal journal;
    const std::vector<std::byte> all = testing_exec::run_all_cases(communicator);
    journal.add(all.data(), all.size());
    add_lopsided_gathers(communicator, journal);
    return journal.bytes();
}

/// What the thread of this rank gets.
std::vector<std::byte> expected_of(const models::Layout& layout, int rank) {
    std::vector<std::byte> expected;
    run_in_process(layout, [&](Communicator& communicator) {
        std::vector<std::byte> journal = run_cases(communicator);
        if (communicator.world_rank() == rank) {
            expected = std::move(journal);
        }
    });
    return expected;
}

/// True if this process gets what its counterpart among threads gets, over every transport.
bool agrees(const models::Layout& layout, int rank) {
    const std::vector<std::byte> expected = expected_of(layout, rank);
    return std::ranges::all_of(transports(), [&](const MpiTransport& transport) {
        const std::unique_ptr<Communicator> communicator = make_mpi_communicator(layout, transport);
        return run_cases(*communicator) == expected;
    });
}

}  // namespace
}  // namespace auspex::exec

int main(int argc, char** argv) {
    const auspex::exec::MpiSession session(&argc, &argv);
    bool fine = session.size() > 1;
    for (const auspex::models::Layout& layout : auspex::exec::grids_of(session.size())) {
        fine = fine && auspex::exec::agrees(layout, session.rank());
    }
    if (!fine) {
        std::cerr << "rank " << session.rank() << " got other bits than threads of one process give\n";
        auspex::exec::MpiSession::abort(EXIT_FAILURE);
    }
    return EXIT_SUCCESS;
}
