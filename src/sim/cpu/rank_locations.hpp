#pragma once
/// @file Where the ranks of a CPU machine sit: node, NIC, computer, core.
#include <vector>

#include "models/layout.hpp"
#include "models/machine.hpp"

namespace auspex::cpu {

struct RankLocation {
    int node = 0;      ///< of the machine
    int nic = 0;       ///< counted over all nodes that have ranks
    int computer = 0;  ///< counted over all computers that have ranks
    int core = 0;      ///< of the computer: index of the rank among its ranks, modulo the cores
};

struct RankLocations {
    std::vector<RankLocation> of_process;  ///< of each rank, then of each background process
    int background_processes = 0;          ///< of no node and no NIC (-1)
    int computers = 0, nics = 0;
    [[nodiscard]] int ranks() const { return static_cast<int>(of_process.size()) - background_processes; }
};

/// Locations of the layout's ranks. Machine node n is part of computer n / host.nodes_per_computer; computers and NICs
/// are numbered in the order in which ranks first use them.
[[nodiscard]] RankLocations rank_locations(const models::Machine& machine, const models::Layout& layout);
/// Appends background[core] processes to that core of every computer.
void add_background_processes(RankLocations& locations, const std::vector<int>& background);

}  // namespace auspex::cpu
