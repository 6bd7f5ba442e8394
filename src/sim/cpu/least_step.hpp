#pragma once
/// @file What a step on CPUs takes at least, without playing it.
#include "models/inputs.hpp"
#include "schedule/program/step_program.hpp"

namespace auspex::cpu {

/// Seconds that no step played by play_on_cpus is below: of the core with most to do,
///   sum over its ranks of kernels + send_cpu_s + receive_cpu_s of messages,
/// each on a core alone; where ranks are not bound, of a computer's ranks over its cores, and no less than a rank's
/// own. Ignores waits, what ranks take from one another's caches, memory and speed, and messages that come from
/// memory. Throws InputError as play_on_cpus.
[[nodiscard]] double least_step_s(const models::Inputs& inputs, const schedule::StepProgram& step);

/// The same of kernels alone, with every operand in the cache, over all cores that the ranks have: quicker, and never
/// above the other.
[[nodiscard]] double least_kernel_s(const models::Inputs& inputs, const schedule::StepProgram& step);

}  // namespace auspex::cpu
