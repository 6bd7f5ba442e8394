/// @file Ranks to nodes, computers and cores.
#include "sim/cpu/rank_locations.hpp"

#include <map>

namespace auspex::cpu {
namespace {

/// A number for each key, in the order in which they first come.
int number_of(std::map<int, int>& numbers, int key) {
    return numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second;
}

}  // namespace

RankLocations rank_locations(const models::Machine& machine, const models::Layout& layout) {
    const models::Node& node = machine.node;
    RankLocations locations;
    std::map<int, int> computers, nics, ranks_of_computer;
    for (int rank = 0; rank < layout.tiles; ++rank) {
        const int job_node = rank / layout.tiles_per_node, tile = rank % layout.tiles_per_node;
        const int machine_node = layout.node_of_job_node[static_cast<std::size_t>(job_node)];
        const int nic =
            node.nic_of_tile.empty() ? tile * node.nics / node.tiles : node.nic_of_tile[static_cast<std::size_t>(tile)];
        const int computer = number_of(computers, machine_node / machine.cpu.nodes_per_computer);
        locations.of_process.push_back({machine_node, number_of(nics, machine_node * node.nics + nic), computer,
                                        ranks_of_computer[computer]++ % machine.cpu.cores});
    }
    locations.computers = static_cast<int>(computers.size());
    locations.nics = static_cast<int>(nics.size());
    return locations;
}

void add_background_processes(RankLocations& locations, const std::vector<int>& background) {
    for (int computer = 0; computer < locations.computers; ++computer) {
        for (std::size_t core = 0; core < background.size(); ++core) {
            for (int process = 0; process < background[core]; ++process) {
                locations.of_process.push_back(
                    {.node = -1, .nic = -1, .computer = computer, .core = static_cast<int>(core)});
                ++locations.background_processes;
            }
        }
    }
}

}  // namespace auspex::cpu
