/// @file Replays of a step on CPUs with groups of constants scaled.
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

void scale_kernel_costs(models::Machine& machine) {
    for (auto& costs : machine.cpu.kernel_costs) {
        for (models::CpuKernelCost& cost : costs) {
            for (double& seconds : cost.seconds_per) {
                seconds *= kTimeFactor;
            }
            cost.miss_byte_s *= kTimeFactor;
        }
    }
}

void scale_message_costs(models::MessageCosts& costs) {
    for (double* const seconds : {&costs.send_s, &costs.receive_s, &costs.send_byte_s, &costs.receive_byte_s,
                                  &costs.rendezvous_s, &costs.latency_s}) {
        *seconds *= kTimeFactor;
    }
}

void scale_intra_node(models::Machine& machine) { scale_message_costs(machine.cpu.intra_node); }

void scale_inter_node(models::Machine& machine) {
    scale_message_costs(machine.cpu.inter_node);
    machine.node.nic_bytes_per_s /= kTimeFactor;
}

void scale_cores(models::Machine& machine) {
    models::CpuModel& cpu = machine.cpu;
    cpu.quantum_s *= kTimeFactor, cpu.context_switch_s *= kTimeFactor, cpu.poll_s *= kTimeFactor;
    cpu.reload_byte_s *= kTimeFactor, cpu.core_capacity_bytes /= kTimeFactor;
    cpu.fresh_share /= kTimeFactor, cpu.busy_speed /= kTimeFactor;
}

void scale_memory(models::Machine& machine) {
    models::CpuModel& cpu = machine.cpu;
    cpu.cache_bytes_per_s /= kTimeFactor, cpu.memory_bytes_per_s /= kTimeFactor,
        cpu.core_memory_bytes_per_s /= kTimeFactor;
    cpu.cache_bytes /= kTimeFactor;
}

/// A constant of 0 is not scaled with its group, however little is known of it.
double uncertainty_of(const models::Machine& machine, const ConstantGroup& group) {
    double squares = 0;
    int count = 0;
    for (const Constant& constant : machine.constants) {
        if (has_constant(group, constant.path) && constant.value != 0) {
            squares += constant.relative_uncertainty * constant.relative_uncertainty;
            ++count;
        }
    }
    return count > 0 ? std::sqrt(squares / count) : 0;
}

ConstantSensitivity sensitivity_to(const ConstantGroup& group, const models::Inputs& inputs,
                                   const SimulatedStep& step) {
    models::Inputs changed = inputs;
    group.scale(changed.machine);
    const Picoseconds longer = cpu::play_on_cpus(changed, step, false).step;
    ConstantSensitivity sensitivity;
    sensitivity.constant.path = group.path;
    sensitivity.constant.value = 1;
    sensitivity.constant.kind = ConstantKind::kFitted;
    sensitivity.constant.source = std::string(group.what) + ": all times together";
    sensitivity.constant.relative_uncertainty = std::max(kMinUncertainty, uncertainty_of(inputs.machine, group));
    sensitivity.elasticity =
        std::log(static_cast<double>(longer) / static_cast<double>(step.step)) / std::log(kTimeFactor);
    return sensitivity;
}

/// The group of all cost models as one entry a kernel: each has its share of the elasticity, and an error of its own.
std::vector<ConstantSensitivity> by_kernel(const ConstantSensitivity& group, const models::Inputs& inputs,
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
        ConstantSensitivity one = group;
        one.constant.path += "." + std::string(to_string(static_cast<models::CpuKernel>(kernel)));
        one.constant.relative_uncertainty = costs[kernel].relative_error * widened + of_none;
        one.elasticity *= seconds[kernel] / all;
        kernels.push_back(std::move(one));
    }
    return kernels;
}

}  // namespace

const std::vector<ConstantGroup>& cpu_constant_groups() {
    static const std::vector<ConstantGroup> kGroups{
        {"machine.host.kernels", "laws of all kernels", scale_kernel_costs, {"machine.host.kernels."}, true},
        {"machine.host.messages.near",
         "messages inside a node",
         scale_intra_node,
         {"machine.host.messages.near."},
         false},
        {"machine.host.messages.far",
         "messages between nodes, and their wires",
         scale_inter_node,
         {"machine.host.messages.far.", "machine.node.nic."},
         false},
        {"machine.host.cores",
         "sharing of cores",
         scale_cores,
         {"machine.host.core_slice", "machine.host.switch", "machine.host.poll", "machine.host.core_reach",
          "machine.host.refill_byte", "machine.host.fresh_share", "machine.host.busy_speed"},
         false},
        {"machine.host.memory",
         "sharing of last-level cache and memory",
         scale_memory,
         {"machine.host.last_level_cache", "machine.host.cache_bandwidth", "machine.host.memory_bandwidth",
          "machine.host.core_memory_bandwidth"},
         false}};
    return kGroups;
}

bool has_constant(const ConstantGroup& group, const std::string& path) {
    return std::any_of(group.members.begin(), group.members.end(),
                       [&](const std::string& begin) { return path.starts_with(begin); });
}

std::vector<ConstantSensitivity> cpu_sensitivities(const models::Inputs& inputs, const SimulatedStep& step) {
    constexpr double kNothing = 1e-4;
    std::vector<ConstantSensitivity> sensitivities;
    for (const ConstantGroup& group : cpu_constant_groups()) {
        const ConstantSensitivity all = sensitivity_to(group, inputs, step);
        const std::vector parts = group.is_kernels ? by_kernel(all, inputs, step) : std::vector{all};
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
