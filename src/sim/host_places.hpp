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
    std::vector<HostPlace> of_rank;
    int computers = 0, nics = 0;
};

/// Node n is one of host.nodes_per_computer that make computer n / nodes_per_computer.
[[nodiscard]] HostPlaces host_places(const Machine& machine, const Layout& layout);

}  // namespace auspex
