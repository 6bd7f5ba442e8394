#pragma once
/// @file Cores: which a process may use, and staying on one.
#include <sched.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace auspex::exec {

/// Numbers of the cores in this thread's affinity mask, rising; there may be any number of them, and offline ones are
/// not in it. All that the system has where it does not say. Never empty.
[[nodiscard]] std::vector<int> affinity_cores();

/// Fills a mask of so many bytes and returns 0, or sets errno: EINVAL where the kernel has more cores than that.
using MaskReader = std::function<int(std::size_t bytes, cpu_set_t* mask)>;
/// The same of another mask than this thread's.
[[nodiscard]] std::vector<int> affinity_cores(const MaskReader& read);

/// Of those the first floor(limit), one at least, where a control group limits this process's time (group_limits): with
/// more at work the group would be stopped in the middle of a step.
[[nodiscard]] std::vector<int> allowed_cores();

/// This thread, and those it starts from now on, stay on the core. False where the system refuses.
bool pin_to_core(int core);

/// One sentence about time that a control group takes away: fewer cores used than the mask has, or less than one core's
/// time. Empty where it takes none.
[[nodiscard]] std::string note_of_limited_cores();

}  // namespace auspex::exec
