/// @file Replays of a step on CPUs with constants scaled, one after another.
#include "sim/predict/cpu_sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
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

/// The constant's number times, or by, the factor: whichever makes a step longer.
template <double models::CpuModel::*kNumber, bool kIsTime>
void scale_cpu(models::Machine& machine, double factor) {
    machine.cpu.*kNumber *= kIsTime ? factor : 1 / factor;
}
template <models::MessageCosts models::CpuModel::*kPath, double models::MessageCosts::*kNumber>
void scale_message(models::Machine& machine, double factor) {
    machine.cpu.*kPath.*kNumber *= factor;
}
void scale_speed(models::Machine& machine, double factor) { machine.cpu = at_speed(machine.cpu, 1 / factor); }
void scale_nic(models::Machine& machine, double factor) { machine.node.nic_bytes_per_s /= factor; }

/// Of the constants' of that path that are not 0, root mean square; 0 where there is none.
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

/// Of a constant that is 0, or not there, nothing can be scaled.
bool enters(const models::Machine& machine, const ConstantGroup& group) {
    return group.is_kernels || group.scale == scale_speed ||
           std::ranges::any_of(machine.constants, [&](const Constant& constant) {
               return has_constant(group, constant.path) && constant.value != 0;
           });
}

ConstantSensitivity sensitivity_to(const ConstantGroup& group, const models::Inputs& inputs,
                                   const SimulatedStep& step) {
    models::Inputs changed = inputs;
    group.scale(changed.machine, kTimeFactor);
    const Picoseconds longer = cpu::play_on_cpus(changed, step, false).step;
    ConstantSensitivity sensitivity;
    sensitivity.constant.path = group.path;
    sensitivity.constant.value = 1;
    sensitivity.constant.kind = ConstantKind::kFitted;
    sensitivity.constant.source = group.what;
    sensitivity.constant.relative_uncertainty = std::max(
        group.scale == scale_speed ? kSpeedUncertainty : kMinUncertainty, uncertainty_of(inputs.machine, group));
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
    using Cpu = models::CpuModel;
    using Message = models::MessageCosts;
    static const std::vector<ConstantGroup> kGroups{
        {"machine.host.kernels", "laws of all kernels", scale_kernel_costs, true},
        {"machine.host.probe", "speed of a core, beside that of the calibration", scale_speed},
        {"machine.host.core_slice", "time slices", scale_cpu<&Cpu::quantum_s, true>},
        {"machine.host.switch", "switches of ranks on a core", scale_cpu<&Cpu::context_switch_s, true>},
        {"machine.host.poll", "polls of a rank that waits", scale_cpu<&Cpu::poll_s, true>},
        {"machine.host.core_reach", "capacity of a core's own caches", scale_cpu<&Cpu::core_capacity_bytes, false>},
        {"machine.host.refill_byte", "bytes that others have evicted", scale_cpu<&Cpu::reload_byte_s, true>},
        {"machine.host.fresh_share", "bytes that are just written", scale_cpu<&Cpu::fresh_share, false>},
        {"machine.host.busy_speed", "speed while all cores compute", scale_cpu<&Cpu::busy_speed, false>},
        {"machine.host.last_level_cache", "capacity of the last level", scale_cpu<&Cpu::cache_bytes, false>},
        {"machine.host.cache_bandwidth", "last-level cache, all cores", scale_cpu<&Cpu::cache_bytes_per_s, false>},
        {"machine.host.memory_bandwidth", "memory, all cores", scale_cpu<&Cpu::memory_bytes_per_s, false>},
        {"machine.host.core_memory_bandwidth", "memory, one core", scale_cpu<&Cpu::core_memory_bytes_per_s, false>},
        {"machine.host.messages.near.send", "a message's cost", scale_message<&Cpu::intra_node, &Message::send_s>},
        {"machine.host.messages.near.receive", "a message's cost",
         scale_message<&Cpu::intra_node, &Message::receive_s>},
        {"machine.host.messages.near.send_byte", "a message's cost",
         scale_message<&Cpu::intra_node, &Message::send_byte_s>},
        {"machine.host.messages.near.receive_byte", "a message's cost",
         scale_message<&Cpu::intra_node, &Message::receive_byte_s>},
        {"machine.host.messages.near.rendezvous", "a message's cost",
         scale_message<&Cpu::intra_node, &Message::rendezvous_s>},
        {"machine.host.messages.far.send", "a message's cost", scale_message<&Cpu::inter_node, &Message::send_s>},
        {"machine.host.messages.far.receive", "a message's cost", scale_message<&Cpu::inter_node, &Message::receive_s>},
        {"machine.host.messages.far.send_byte", "a message's cost",
         scale_message<&Cpu::inter_node, &Message::send_byte_s>},
        {"machine.host.messages.far.receive_byte", "a message's cost",
         scale_message<&Cpu::inter_node, &Message::receive_byte_s>},
        {"machine.host.messages.far.rendezvous", "a message's cost",
         scale_message<&Cpu::inter_node, &Message::rendezvous_s>},
        {"machine.host.messages.far.latency", "a message's cost", scale_message<&Cpu::inter_node, &Message::latency_s>},
        {"machine.node.nic.bandwidth", "rate of a node's link", scale_nic}};
    return kGroups;
}

bool has_constant(const ConstantGroup& group, const std::string& path) {
    const std::string_view prefix = group.path;
    return path == prefix || (group.is_kernels && path.starts_with(prefix) && path.substr(prefix.size(), 1) == ".");
}

std::vector<ConstantSensitivity> cpu_sensitivities(const models::Inputs& inputs, const SimulatedStep& step) {
    constexpr double kNothing = 1e-4;
    std::vector<ConstantSensitivity> sensitivities;
    for (const ConstantGroup& group : cpu_constant_groups()) {
        if (!enters(inputs.machine, group)) {
            continue;
        }
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
