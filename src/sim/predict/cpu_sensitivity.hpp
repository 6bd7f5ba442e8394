#pragma once
/// @file Sensitivity of a step on CPUs to the constants of the machine.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/predict/simulate.hpp"

namespace auspex::predict {

/// What a replay makes worse: a constant of a machine, the cost models of all kernels together, or the cores' speed.
struct ScaledConstant {
    enum class Of : std::uint8_t { kConstant, kKernels, kSpeed };
    std::string path;
    const char* what;
    std::function<void(models::Machine& machine, double factor)> scale;  ///< a step is longer where it is above 1
    Of of = Of::kConstant;
};
/// Every constant of a section "host" that is measured or fitted, and the NIC's bandwidth: not what the MPI library
/// says (eager limits) or is counted.
[[nodiscard]] const std::vector<ScaledConstant>& cpu_constants();

/// One replay for each of them that is not 0, with what it says 5 % worse. All cost models are scaled together, for a
/// section has hundreds of their coefficients; each kernel is an entry ("machine.host.kernels.gemm_forward"): the
/// elasticity of all times its share of the kernels' seconds, uncertain by its relative_error, all widened alike where
/// they are less than 2 % of the whole together. A constant is uncertain as its file says, by 2 % at least; how
/// fast cores will be is one of them ("machine.host.probe", at_speed), and uncertain by 2.9 %. Largest elasticity
/// first; those below 1e-4 are left out.
[[nodiscard]] std::vector<ConstantSensitivity> cpu_sensitivities(const models::Inputs& inputs,
                                                                 const SimulatedStep& step);

}  // namespace auspex::predict
