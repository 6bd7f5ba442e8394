#pragma once
/// @file How auspex and auspex-mpi end: one line, and an exit code. The launcher knows what its ranks say by these
/// prefixes.
#include <chrono>
#include <string>
#include <string_view>

#include "base/input_text.hpp"

namespace auspex::launch {

inline constexpr std::string_view kMessagePrefix = "auspex: ";          ///< of every message
inline constexpr std::string_view kErrorPrefix = "auspex: error: ";     ///< bad input
inline constexpr std::string_view kFailurePrefix = "auspex: failed: ";  ///< anything else
inline constexpr int kFailed = 1, kBadInput = 2;                        ///< exit codes
inline constexpr int kSignalled = 128;  ///< and the number of the signal that ended a command, as shells have it

/// Behind what ended a run of `auspex train` that keeps no checkpoints.
inline constexpr std::string_view kNoCheckpoint = "; without --checkpoint there is nothing to go on from";

/// What goes wrong on every rank is said by rank 0, before the others get to it.
inline constexpr std::chrono::seconds kRankZeroFirst{2};

/// A message may quote names of files and arguments, which may hold anything.
[[nodiscard]] inline std::string message_line(std::string_view prefix, std::string_view text) {
    return std::string(prefix) + printable(text, std::string_view::npos);
}

}  // namespace auspex::launch
