#pragma once
/// @file Steps that are too long to be simulated.
#include <string>

namespace auspex::schedule {

/// Throws InputError: `what` of a step ("all_to_all of stage 3") takes kLongestTime or more, which the clock does not
/// hold.
[[noreturn]] void refuse_long_step(const std::string& what);

}  // namespace auspex::schedule
