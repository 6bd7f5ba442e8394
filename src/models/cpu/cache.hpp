#pragma once
/// @file What processors' caches have in common, and what is taken where a machine does not say.

namespace auspex::models {

/// What memory is moved by at least: a cache line of x86-64 and most arm64 processors, and of Intel's and AMD's
/// accelerators at the least.
inline constexpr double kCacheLineBytes = 64;

/// A core's own caches, as Intel's servers have had them at least since Skylake-SP; the last level, as a group of cores
/// shares it on AMD's since Zen 3.
inline constexpr double kAssumedOwnCacheBytes = 1024.0 * 1024, kAssumedLastLevelBytes = 32 * kAssumedOwnCacheBytes;

}  // namespace auspex::models
