#pragma once
/// @file A collective that was measured somewhere, predicted from a machine file and a stack.
#include "models/machine.hpp"
#include "models/measurement.hpp"
#include "models/stack.hpp"

namespace auspex::fit {

/// Seconds that the simulator gives a row of kind collective. Its name is the collective's, and behind a space the
/// algorithm where it is not the stack's choice: "all-reduce", "all-reduce ring". `ranks` over `nodes`, equally many on
/// each, at equal distances; `active` such groups at the same time. Throws InputError for what cannot be laid out.
[[nodiscard]] double measured_collective_s(const models::Machine& machine, const models::Stack& stack,
                                           const models::Measurement& row);

}  // namespace auspex::fit
