/// @file Replays of a step on hosts with groups of constants scaled.
#include "sim/predict/host_lean.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "schedule/kernel_calls/kernel_calls.hpp"
#include "sim/cpu/host_rows.hpp"
#include "sim/cpu/host_step.hpp"

namespace auspex {
namespace {

constexpr double kLonger = 1.05;
constexpr double kLeastUncertainty = 0.02;

void stretch_laws(Machine& machine) {
    for (auto& laws : machine.host.laws) {
        for (CpuLaw& law : laws) {
            for (double& seconds : law.seconds_per) {
                seconds *= kLonger;
            }
            law.far_byte_s *= kLonger;
        }
    }
}

void stretch_path(MessagePath& path) {
    for (double* const seconds : {&path.send_s, &path.receive_s, &path.send_byte_s, &path.receive_byte_s,
                                  &path.rendezvous_s, &path.latency_s}) {
        *seconds *= kLonger;
    }
}

void stretch_near(Machine& machine) { stretch_path(machine.host.near); }

void stretch_far(Machine& machine) {
    stretch_path(machine.host.far);
    machine.node.nic_bytes_per_s /= kLonger;
}

void stretch_cores(Machine& machine) {
    Host& host = machine.host;
    host.core_slice_s *= kLonger, host.switch_s *= kLonger, host.poll_s *= kLonger;
    host.refill_byte_s *= kLonger, host.core_reach_bytes /= kLonger;
    host.busy_speed /= kLonger;
}

void stretch_memory(Machine& machine) {
    Host& host = machine.host;
    host.cache_bytes_per_s /= kLonger, host.memory_bytes_per_s /= kLonger, host.core_memory_bytes_per_s /= kLonger;
    host.cache_bytes /= kLonger;
}

/// A group of constants: those with these beginnings of their paths.
struct Group {
    const char* path;
    const char* what;
    void (*stretch)(Machine& machine);
    std::vector<std::string> members;
};

const std::vector<Group>& groups() {
    static const std::vector<Group> kGroups{
        {"machine.host.kernels", "laws of all kernels", stretch_laws, {}},
        {"machine.host.messages.near", "messages inside a node", stretch_near, {"machine.host.messages.near."}},
        {"machine.host.messages.far",
         "messages between nodes, and their wires",
         stretch_far,
         {"machine.host.messages.far.", "machine.node.nic."}},
        {"machine.host.cores",
         "sharing of cores",
         stretch_cores,
         {"machine.host.core_slice", "machine.host.switch", "machine.host.poll", "machine.host.core_reach",
          "machine.host.refill_byte", "machine.host.busy_speed"}},
        {"machine.host.memory",
         "sharing of last-level cache and memory",
         stretch_memory,
         {"machine.host.last_level_cache", "machine.host.cache_bandwidth", "machine.host.memory_bandwidth",
          "machine.host.core_memory_bandwidth"}}};
    return kGroups;
}

double uncertainty_of_laws(const Inputs& inputs, const SimulatedStep& step) {
    const auto seconds = host_kernel_seconds(inputs, step);
    const auto& laws = inputs.machine.host.laws[static_cast<std::size_t>(cpu_precision(step.plan))];
    double all = 0, squares = 0;
    for (std::size_t kernel = 0; kernel < kCpuKernels; ++kernel) {
        const double error = seconds[kernel] * laws[kernel].relative_error;
        all += seconds[kernel];
        squares += error * error;
    }
    return all > 0 ? std::sqrt(squares) / all : 0;
}

/// A constant of 0 is not scaled with its group, however little is known of it.
double uncertainty_of(const Machine& machine, const Group& group) {
    double squares = 0;
    int count = 0;
    for (const Constant& constant : machine.constants) {
        const bool is_member = std::any_of(group.members.begin(), group.members.end(), [&](const std::string& begin) {
            return constant.path.rfind(begin, 0) == 0;
        });
        if (is_member && constant.value != 0) {
            squares += constant.relative_uncertainty * constant.relative_uncertainty;
            ++count;
        }
    }
    return count > 0 ? std::sqrt(squares / count) : 0;
}

ConstantLean lean_on(const Group& group, const Inputs& inputs, const SimulatedStep& step) {
    Inputs changed = inputs;
    group.stretch(changed.machine);
    const Picoseconds longer = play_on_hosts(changed, step, false).step;
    ConstantLean lean;
    lean.constant.path = group.path;
    lean.constant.value = 1;
    lean.constant.kind = ConstantKind::kFitted;
    lean.constant.source = std::string(group.what) + ": all times together";
    lean.constant.relative_uncertainty =
        std::max(kLeastUncertainty,
                 group.members.empty() ? uncertainty_of_laws(inputs, step) : uncertainty_of(inputs.machine, group));
    lean.elasticity = std::log(static_cast<double>(longer) / static_cast<double>(step.step)) / std::log(kLonger);
    return lean;
}

}  // namespace

std::vector<ConstantLean> lean_on_host_constants(const Inputs& inputs, const SimulatedStep& step) {
    constexpr double kNothing = 1e-4;
    std::vector<ConstantLean> leans;
    for (const Group& group : groups()) {
        leans.push_back(lean_on(group, inputs, step));
    }
    std::stable_sort(leans.begin(), leans.end(), [](const ConstantLean& a, const ConstantLean& b) {
        return std::fabs(a.elasticity) > std::fabs(b.elasticity);
    });
    std::erase_if(leans, [](const ConstantLean& lean) { return std::fabs(lean.elasticity) < kNothing; });
    return leans;
}

}  // namespace auspex
