#pragma once
/// @file Where the ranks of a host machine sit: node, NIC, computer, core.
#include <vector>

#include "models/layout.hpp"
#include "models/machine.hpp"

namespace auspex {

struct HostPlace {
    int node = 0;      ///< of the machine
    int nic = 0;       ///< counted over all nodes that have ranks
    int computer = 0;  ///< counted over all computers that have ranks
    int core = 0;      ///< of the computer: the rank's turn among its ranks, modulo the cores
};

struct HostPlaces {
    std::vector<HostPlace> of_rank;  ///< and behind the ranks, of each process of others
    int others = 0;                  ///< processes of others: of no node and no NIC
    int computers = 0, nics = 0;
    [[nodiscard]] int ranks() const { return static_cast<int>(of_rank.size()) - others; }
};

/// Node n is one of host.nodes_per_computer that make computer n / nodes_per_computer.
[[nodiscard]] HostPlaces host_places(const Machine& machine, const Layout& layout);
/// So many processes of others more, by core of every computer.
void add_others(HostPlaces& places, const std::vector<int>& others);

}  // namespace auspex
