#pragma once
/// @file Sensitivity of a step on CPUs to the constants of the machine.
#include <string>
#include <vector>

#include "sim/predict/simulate.hpp"

namespace auspex::predict {

/// Constants of a machine that are scaled together.
struct ConstantGroup {
    const char* path;
    const char* what;
    void (*scale)(models::Machine& machine);  ///< all that makes a step longer, by 5 %
    std::vector<std::string> members;         ///< beginnings of the paths of its constants
    bool is_kernels;                          ///< each kernel's cost model has an error of its own
};
/// Every constant of a section "host" is in one of them.
[[nodiscard]] const std::vector<ConstantGroup>& cpu_constant_groups();
[[nodiscard]] bool has_constant(const ConstantGroup& group, const std::string& path);

/// A section "host" has hundreds of constants, so they are scaled in groups, one replay each with all times of the
/// group 5 % longer: "machine.host.kernels" (all cost models), "machine.host.messages.near",
/// "machine.host.messages.far" (and the NICs' bandwidth), "machine.host.cores" (time slice, context switch, poll, what
/// ranks evict from a core's caches, speed while all compute), "machine.host.memory" (cache and memory). Of the cost
/// models each kernel is an entry ("machine.host.kernels.gemm_forward"): the group's elasticity times its share of the
/// kernels' seconds, uncertain by its relative_error, all widened alike where they are less than 2 % of the group
/// together. A group's uncertainty: the root mean square of its constants' (those of 0 apart); at least 2 %. Largest
/// first; those below 1e-4 are left out.
[[nodiscard]] std::vector<ConstantSensitivity> cpu_sensitivities(const models::Inputs& inputs,
                                                                 const SimulatedStep& step);

}  // namespace auspex::predict
