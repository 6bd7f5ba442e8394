/// @file Names of the kinds of links.
#include "sim/network/node/link_kind.hpp"

#include "base/error.hpp"

namespace auspex::network {

const char* to_string(LinkKind kind) {
    switch (kind) {
        case LinkKind::kRankTransport: return "rank transport";
        case LinkKind::kPair: return "pair";
        case LinkKind::kPairBothWays: return "pair, both ways";
        case LinkKind::kMesh: return "mesh";
        case LinkKind::kMeshBothWays: return "mesh, both ways";
        case LinkKind::kSwitchPort: return "switch port";
        case LinkKind::kPcieCard: return "PCIe card";
        case LinkKind::kPcieBothWays: return "PCIe card, both ways";
        case LinkKind::kPcieSocket: return "PCIe socket";
        case LinkKind::kHostMemory: return "host memory";
        case LinkKind::kNic: return "NIC";
        case LinkKind::kLocal: return "local";
        case LinkKind::kLocalSpread: return "local spread";
        case LinkKind::kLocalPool: return "local pool";
        case LinkKind::kGlobal: return "global";
        case LinkKind::kGlobalSpread: return "global spread";
        case LinkKind::kGlobalPool: return "global pool";
        case LinkKind::kLeafUplink: return "leaf uplink";
        case LinkKind::kPodUplink: return "pod uplink";
    }
    return "unknown";
}

bool is_both_ways(LinkKind kind) {
    return kind == LinkKind::kPairBothWays || kind == LinkKind::kMeshBothWays || kind == LinkKind::kPcieBothWays;
}

}  // namespace auspex::network
