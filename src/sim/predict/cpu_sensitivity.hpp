#pragma once
/// @file Sensitivity of a step on CPUs to the constants of the machine.
#include <string>
#include <vector>

#include "sim/predict/simulate.hpp"

namespace auspex::predict {

/// A constant of a machine, or the cost models of all kernels together.
struct ConstantGroup {
    const char* path;  ///< of the constant; of the cost models the beginning
    const char* what;
    void (*scale)(models::Machine& machine, double factor);  ///< makes a step longer where the factor is above 1
    bool is_kernels = false;                                 ///< each kernel's cost model has an error of its own
};
/// Every constant of a section "host" that is measured or fitted, and the NIC's bandwidth: not what the MPI library
/// says (eager limits) or is counted.
[[nodiscard]] const std::vector<ConstantGroup>& cpu_constant_groups();
[[nodiscard]] bool has_constant(const ConstantGroup& group, const std::string& path);

/// One replay for each of them that is not 0, with what it says 5 % worse. All cost models are scaled together, for a
/// section has hundreds of their coefficients; each kernel is an entry ("machine.host.kernels.gemm_forward"): the
/// elasticity of all times its share of the kernels' seconds, uncertain by its relative_error, all widened alike where
/// they are less than 2 % of the whole together. A constant is uncertain as its file says, by 2 % at least; how
/// fast cores will be is one of them ("machine.host.probe", at_speed), and uncertain by 2.9 %. Largest elasticity
/// first; those below 1e-4 are left out.
[[nodiscard]] std::vector<ConstantSensitivity> cpu_sensitivities(const models::Inputs& inputs,
                                                                 const SimulatedStep& step);

}  // namespace auspex::predict
