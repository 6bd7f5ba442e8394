#pragma once
/// @file What the operating system says of this computer as a whole.
#include <string>

namespace auspex::exec {

struct Computer {
    std::string model;        ///< of the processor; "a processor without a name" where nothing tells it
    std::string kernel;       ///< the same for all processes of one running system, whatever host names they have
    double memory_bytes = 0;  ///< in all, or what a control group leaves of it
};

/// From /proc where it is there; nothing has to be.
[[nodiscard]] Computer this_computer();

/// "2026-11-21".
[[nodiscard]] std::string today();

}  // namespace auspex::exec
