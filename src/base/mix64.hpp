#pragma once
/// @file splitmix64 (Steele, Lea and Flood, 2014; constants as Blackman and Vigna publish them): seeds of generators,
/// hashes of numbers.
#include <cstdint>

namespace auspex {

/// 2^64 over the golden ratio, odd: multiples of it are spread evenly over all 64-bit numbers. splitmix64 counts by it.
inline constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15U;

/// What splitmix64 gives next in state x: a bijection whose every output bit depends on every input bit. Neighbouring
/// inputs give unrelated outputs, so that sums of them tell sets apart.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
    x += kGoldenGamma;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

}  // namespace auspex
