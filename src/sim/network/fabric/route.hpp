#pragma once
/// @file The links that a flow takes.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace auspex::network {

inline constexpr std::uint32_t kNoLink = 0xffffffff;

/// One link on a route; `weight` is the share of the flow that takes it (less than 1 where routing splits the flow).
struct Leg {
    std::uint32_t link;
    double weight;
};

struct Route {
    std::vector<Leg> legs;
    double latency_s = 0;
    bool leaves_node = false;
    bool leaves_group = false;
};

/// What a flow takes between two nodes, NICs not counted.
struct InterNodeRoute {
    std::vector<Leg> legs;
    double latency_s = 0;  ///< NIC to NIC, switches included
    bool leaves_group = false;
};

/// What a detour goes round: the direct link of two switches of a dragonfly group, or those of two groups.
enum class DetourLevel : std::uint8_t { kSwitches, kGroups };
inline constexpr std::size_t kDetourLevels = 2;

/// Adaptive routing: pair links [first, end), of which what does not fit on the direct links of a pair goes on by a
/// third switch or group and loads a pool once more. The links lie pool by pool, links_of_pool of each.
struct DetourLinks {
    DetourLevel level;
    std::uint32_t first, end, links_of_pool;
    std::uint32_t first_pool;
    double direct_bytes_per_s;  ///< C: of the direct links of a pair
};

}  // namespace auspex::network
