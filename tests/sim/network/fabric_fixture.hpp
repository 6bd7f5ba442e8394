#pragma once
/// @file Routes by kind of link.
#include <map>

#include "sim/network/fabric/fabric.hpp"

namespace auspex::testing_network {

using Weights = std::map<network::LinkKind, double>;

inline std::map<network::LinkKind, double> weight_by_kind(const network::Fabric& fabric, const network::Route& route) {
    std::map<network::LinkKind, double> weights;
    for (const network::Leg& leg : route.legs) {
        weights[fabric.kind(leg.link)] += leg.weight;
    }
    return weights;
}

inline std::map<network::LinkKind, double> capacity_by_kind(const network::Fabric& fabric,
                                                            const network::Route& route) {
    std::map<network::LinkKind, double> capacities;
    for (const network::Leg& leg : route.legs) {
        capacities[fabric.kind(leg.link)] = fabric.capacity_bytes_per_s(leg.link);
    }
    return capacities;
}

}  // namespace auspex::testing_network
