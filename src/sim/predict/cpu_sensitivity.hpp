#pragma once
/// @file Sensitivity of a step on CPUs to the constants of the machine.
#include <vector>

#include "sim/predict/simulate.hpp"

namespace auspex::predict {

/// A section "host" has hundreds of constants, so they are scaled in groups, one replay each with all times of the
/// group 5 % longer: "machine.host.kernels" (all cost models), "machine.host.messages.near",
/// "machine.host.messages.far" (and the NICs' bandwidth), "machine.host.cores" (time slice, context switch, poll, speed
/// while all compute), "machine.host.memory" (cache and memory). A group's uncertainty: of the cost models sqrt(sum
/// (time share x relative_error)^2) over kernels, of the others the root mean square of their constants' (those of 0
/// apart); at least 2 %. Largest first; those below 1e-4 are left out.
[[nodiscard]] std::vector<ConstantSensitivity> cpu_sensitivities(const models::Inputs& inputs,
                                                                 const SimulatedStep& step);

}  // namespace auspex::predict
