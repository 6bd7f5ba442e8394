#pragma once
/// @file The kinds of links.
#include <cstddef>
#include <cstdint>

namespace auspex::network {

/// What a link is; the report sums utilisation by kind. Every physical direction is a link of its own; what both
/// directions together carry at most is one more.
enum class LinkKind : std::uint8_t {
    kRankTransport,  ///< stack: what one rank's transport moves between nodes, out or in
    kPair,           ///< between the tiles of one card
    kPairBothWays,   ///< the same, both directions together
    kMesh,           ///< between two cards of a node
    kMeshBothWays,   ///< what two tiles of different cards exchange, both directions together
    kSwitchPort,     ///< a tile's port to the node's switch
    kPcieCard,       ///< card to host
    kPcieBothWays,   ///< the same, both directions together
    kPcieSocket,     ///< a socket's PCIe switch
    kHostMemory,     ///< a socket's memory, reads and writes in sum
    kNic,
    kLocal,         ///< between two switches of a dragonfly group, or all ways that routing leaves to the pair
    kLocalSpread,   ///< adaptive, Valiant: sum of all local links of a switch, out or in
    kLocalPool,     ///< adaptive, Valiant: all local links of a group: who detours by a third switch takes two
    kGlobal,        ///< between two dragonfly groups, or all ways that routing leaves to the pair
    kGlobalSpread,  ///< adaptive, Valiant: sum of all global links of a group, out or in
    kGlobalPool,    ///< adaptive, Valiant: all global links of the machine: who detours by a third group takes two
    kLeafUplink,    ///< trees and rails: leaf to spines
    kPodUplink,     ///< three levels: pod to cores
};
inline constexpr std::size_t kLinkKinds = 19;
[[nodiscard]] const char* to_string(LinkKind kind);
/// True of a bound that the two directions of a link share: no wire of its own.
[[nodiscard]] bool is_both_ways(LinkKind kind);

}  // namespace auspex::network
