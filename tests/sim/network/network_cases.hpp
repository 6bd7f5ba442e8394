#pragma once
/// @file Small jobs on both kinds of machine.
#include <vector>

#include "network_fixture.hpp"

namespace auspex::testing_network {

struct Case {
    models::Machine machine;
    models::Layout layout;
};

/// Small jobs on both kinds of machine, in two placements; the last has a node that is not full.
inline std::vector<Case> cases() {
    std::vector<Case> made;
    for (const models::Machine& machine : {mesh_machine(), switch_machine()}) {
        const int tiles = machine.node.tiles;
        for (const models::PlacementKind placement :
             {models::PlacementKind::kContiguous, models::PlacementKind::kScattered}) {
            made.push_back({machine, layout_of(machine, {.pp = 2, .dp = 5, .ep = tiles, .placement = placement})});
            made.push_back({machine, layout_of(machine, {.dp = 3, .ep = tiles / 2 + 1, .placement = placement})});
        }
    }
    return made;
}

}  // namespace auspex::testing_network
