#pragma once
/// @file Cores: which a process may use, and staying on one.
#include <string>
#include <vector>

namespace auspex {

/// Numbers of the cores that this thread may use, rising: those of its affinity mask (any number of them; offline ones
/// are not in it), and of these the first floor(limit), one at least, where a control group limits its time
/// (group_limits): with more at work the group would be stopped in the middle of a step. Never empty.
[[nodiscard]] std::vector<int> allowed_cores();

/// This thread, and those it starts from now on, stay on the core. False where the system refuses.
bool stay_on_core(int core);

/// One sentence about time that a control group takes away: fewer cores used than the mask has, or less than one core's
/// time. Empty where it takes none.
[[nodiscard]] std::string note_of_limited_cores();

}  // namespace auspex
