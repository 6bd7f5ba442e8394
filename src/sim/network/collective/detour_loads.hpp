#pragma once
/// @file What flows of a pattern put on links that they detour by.
#include <array>
#include <cstdint>
#include <span>

#include "sim/network/fabric/fabric.hpp"
#include "sim/network/sharing/pattern_loads.hpp"

namespace auspex::network {

/// The rate of a pattern whose flows detour, and the pool that binds it; kNoLink: none does.
struct DetourBound {
    double rate;
    std::uint32_t link;
    /// Of the pair with most flows, where more goes between the two than fits on their direct links.
    struct FullPair {
        double drain_s_per_byte = 0;  ///< flows / capacity of these links; 0: everything fits
        std::uint32_t link = kNoLink;
    };
    std::array<FullPair, kDetourLevels> full{};  ///< [DetourLevel]
};

/// What does not fit on the direct links of two switches or groups goes by way of a third, and crosses the links of
/// their pool once more. First the rate, `rate` at most, that all pools leave, then their loads at that rate. Patterns
/// beside each other count their own detours each: that they share the direct links, and that they get less than alone,
/// is left out. `loads`: those between nodes, by rising link; the pools' are added to.
[[nodiscard]] DetourBound add_detours(const Fabric& fabric, std::span<LinkLoad> loads, double rate);

}  // namespace auspex::network
