#pragma once
/// @file What the operating system says of this computer.
#include <string>

namespace auspex {

struct Computer {
    std::string model;        ///< of the processor
    std::string kernel;       ///< the same for all processes of one running system, whatever host names they have
    double memory_bytes = 0;  ///< in all
    double last_level_cache_bytes = 0;
};

/// From /proc and /sys. Throws std::runtime_error where the size of memory or of a cache cannot be read.
[[nodiscard]] Computer this_computer();

/// "2026-11-21".
[[nodiscard]] std::string today();

}  // namespace auspex
