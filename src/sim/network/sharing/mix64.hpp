#pragma once
/// @file A mixing function for sets that are told apart by a sum.
#include <cstdint>

namespace auspex::network {

/// splitmix64's finaliser: neighbouring inputs give unrelated outputs, so that sums of them tell sets apart.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace auspex::network
