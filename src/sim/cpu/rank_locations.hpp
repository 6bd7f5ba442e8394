#pragma once
/// @file Where the ranks of a host machine sit: node, NIC, computer, core.
#include <vector>

#include "models/layout.hpp"
#include "models/machine.hpp"

namespace auspex::cpu {

struct RankLocation {
    int node = 0;      ///< of the machine
    int nic = 0;       ///< counted over all nodes that have ranks
    int computer = 0;  ///< counted over all computers that have ranks
    int core = 0;      ///< of the computer: the rank's turn among its ranks, modulo the cores
};

struct RankLocations {
    std::vector<RankLocation> of_process;  ///< and behind the ranks, of each process of others
    int background_processes = 0;          ///< processes of others: of no node and no NIC
    int computers = 0, nics = 0;
    [[nodiscard]] int ranks() const { return static_cast<int>(of_process.size()) - background_processes; }
};

/// Node n is one of host.nodes_per_computer that make computer n / nodes_per_computer.
[[nodiscard]] RankLocations rank_locations(const models::Machine& machine, const models::Layout& layout);
/// So many processes of others more, by core of every computer.
void add_background_processes(RankLocations& locations, const std::vector<int>& background);

}  // namespace auspex::cpu
