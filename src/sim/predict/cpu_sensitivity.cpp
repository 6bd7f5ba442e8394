/// @file Replays of a step on CPUs with constants scaled, one after another.
#include "sim/predict/cpu_sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "schedule/kernel_calls/kernel_calls.hpp"
#include "sim/cpu/program_actions.hpp"
#include "sim/cpu/step.hpp"

namespace auspex::predict {
namespace {

constexpr double kTimeFactor = 1.05;
constexpr double kMinUncertainty = 0.02;
/// A core's clock is within 5 % of that of the calibration, evenly, where nothing disturbs it
/// (exec/run/core_probe.hpp): the standard deviation of a uniform distribution of that half width.
const double kSpeedUncertainty = 0.05 / std::sqrt(3.0);

void scale_kernel_costs(models::Machine& machine, double factor) {
    for (auto& costs : machine.cpu.kernel_costs) {
        for (models::CpuKernelCost& cost : costs) {
            for (double& seconds : cost.seconds_per) {
                seconds *= factor;
            }
            cost.miss_byte_s *= factor;
        }
    }
}

/// None where the file does not have it, or of what is no single constant.
const Constant* constant_of(const models::Machine& machine, const ScaledConstant& scaled) {
    const auto found = std::ranges::find(machine.constants, scaled.path, &Constant::path);
    return found == machine.constants.end() ? nullptr : &*found;
}

double uncertainty_of(const models::Machine& machine, const ScaledConstant& scaled) {
    const Constant* const constant = constant_of(machine, scaled);
    return scaled.of == ScaledConstant::Of::kSpeed
               ? kSpeedUncertainty
               : std::max(kMinUncertainty, constant != nullptr ? constant->relative_uncertainty : 0);
}

/// Of a constant that is 0, or not there, nothing can be scaled.
bool enters(const models::Machine& machine, const ScaledConstant& scaled) {
    const Constant* const constant = constant_of(machine, scaled);
    return scaled.of != ScaledConstant::Of::kConstant || (constant != nullptr && constant->value != 0);
}

ConstantSensitivity sensitivity_to(const ScaledConstant& scaled, const models::Inputs& inputs,
                                   const SimulatedStep& step) {
    models::Inputs changed = inputs;
    scaled.scale(changed.machine, kTimeFactor);
    const Picoseconds longer = cpu::play_on_cpus(changed, step, false).step;
    ConstantSensitivity sensitivity;
    sensitivity.constant.path = scaled.path;
    sensitivity.constant.value = 1;
    sensitivity.constant.kind = ConstantKind::kFitted;
    sensitivity.constant.source = scaled.what;
    sensitivity.constant.relative_uncertainty = uncertainty_of(inputs.machine, scaled);
    sensitivity.elasticity =
        std::log(static_cast<double>(longer) / static_cast<double>(step.step)) / std::log(kTimeFactor);
    return sensitivity;
}

/// All cost models as one entry a kernel: each has its share of the elasticity, and an error of its own.
std::vector<ConstantSensitivity> by_kernel(const ConstantSensitivity& of_all, const models::Inputs& inputs,
                                           const SimulatedStep& step) {
    const auto seconds = cpu::cpu_kernel_seconds(inputs, step);
    const auto& costs = inputs.machine.cpu.kernel_costs[static_cast<std::size_t>(schedule::cpu_precision(step.plan))];
    const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    std::vector<ConstantSensitivity> kernels;
    if (all == 0) {
        return kernels;
    }
    double squares = 0, shares = 0;
    for (std::size_t kernel = 0; kernel < models::kCpuKernels; ++kernel) {
        squares += std::pow(seconds[kernel] / all * costs[kernel].relative_error, 2);
        shares += std::pow(seconds[kernel] / all, 2);
    }
    const double widened = squares > 0 ? std::max(1.0, kMinUncertainty / std::sqrt(squares)) : 1;
    const double of_none = squares > 0 ? 0 : kMinUncertainty / std::sqrt(shares);  // where no cost model has an error
    for (std::size_t kernel = 0; kernel < models::kCpuKernels; ++kernel) {
        ConstantSensitivity one = of_all;
        one.constant.path += "." + std::string(to_string(static_cast<models::CpuKernel>(kernel)));
        one.constant.relative_uncertainty = costs[kernel].relative_error * widened + of_none;
        one.elasticity *= seconds[kernel] / all;
        kernels.push_back(std::move(one));
    }
    return kernels;
}

using Scale = std::function<void(models::Machine&, double)>;
Scale times(double models::CpuModel::*number) {
    return [number](models::Machine& machine, double factor) { machine.cpu.*number *= factor; };
}
Scale over(double models::CpuModel::*number) {
    return [number](models::Machine& machine, double factor) { machine.cpu.*number /= factor; };
}

std::vector<ScaledConstant> all_constants() {
    using Cpu = models::CpuModel;
    using Message = models::MessageCosts;
    std::vector<ScaledConstant> all{
        {"machine.host.kernels", "laws of all kernels", scale_kernel_costs, ScaledConstant::Of::kKernels},
        {"machine.host.probe", "speed of a core, beside that of the calibration",
         [](models::Machine& machine, double factor) { machine.cpu = at_speed(machine.cpu, 1 / factor); },
         ScaledConstant::Of::kSpeed},
        {"machine.host.core_slice", "time slices", times(&Cpu::quantum_s)},
        {"machine.host.switch", "switches of ranks on a core", times(&Cpu::context_switch_s)},
        {"machine.host.poll", "polls of a rank that waits", times(&Cpu::poll_s)},
        {"machine.host.core_reach", "capacity of a core's own caches", over(&Cpu::core_capacity_bytes)},
        {"machine.host.refill_byte", "bytes that others have evicted", times(&Cpu::reload_byte_s)},
        {"machine.host.fresh_share", "bytes that are just written", over(&Cpu::fresh_share)},
        {"machine.host.busy_speed", "speed while all cores compute", over(&Cpu::busy_speed)},
        {"machine.host.last_level_cache", "capacity of the last level", over(&Cpu::cache_bytes)},
        {"machine.host.cache_bandwidth", "last-level cache, all cores", over(&Cpu::cache_bytes_per_s)},
        {"machine.host.memory_bandwidth", "memory, all cores", over(&Cpu::memory_bytes_per_s)},
        {"machine.host.core_memory_bandwidth", "memory, one core", over(&Cpu::core_memory_bytes_per_s)},
        {"machine.node.nic.bandwidth", "rate of a node's link",
         [](models::Machine& machine, double factor) { machine.node.nic_bytes_per_s /= factor; }}};
    for (const auto& [path, costs] : {std::pair("near", &Cpu::intra_node), {"far", &Cpu::inter_node}}) {
        for (const auto& [name, number] : {std::pair("send", &Message::send_s),
                                           {"receive", &Message::receive_s},
                                           {"send_byte", &Message::send_byte_s},
                                           {"receive_byte", &Message::receive_byte_s},
                                           {"rendezvous", &Message::rendezvous_s},
                                           {"latency", &Message::latency_s}}) {
            all.push_back({std::string("machine.host.messages.") + path + "." + name, "a message's cost",
                           [costs = costs, number = number](models::Machine& machine, double factor) {
                               machine.cpu.*costs.*number *= factor;
                           }});
        }
    }
    return all;
}

}  // namespace

const std::vector<ScaledConstant>& cpu_constants() {
    static const std::vector<ScaledConstant> kConstants = all_constants();
    return kConstants;
}

std::vector<ConstantSensitivity> cpu_sensitivities(const models::Inputs& inputs, const SimulatedStep& step) {
    constexpr double kNothing = 1e-4;
    std::vector<ConstantSensitivity> sensitivities;
    for (const ScaledConstant& scaled : cpu_constants()) {
        if (!enters(inputs.machine, scaled)) {
            continue;
        }
        const ConstantSensitivity all = sensitivity_to(scaled, inputs, step);
        const std::vector parts =
            scaled.of == ScaledConstant::Of::kKernels ? by_kernel(all, inputs, step) : std::vector{all};
        sensitivities.insert(sensitivities.end(), parts.begin(), parts.end());
    }
    std::stable_sort(sensitivities.begin(), sensitivities.end(),
                     [](const ConstantSensitivity& a, const ConstantSensitivity& b) {
                         return std::fabs(a.elasticity) > std::fabs(b.elasticity);
                     });
    std::erase_if(sensitivities,
                  [](const ConstantSensitivity& sensitivity) { return std::fabs(sensitivity.elasticity) < kNothing; });
    return sensitivities;
}

}  // namespace auspex::predict
