/// @file Seconds of a kernel call and of a message by the cost models of a CPU machine.
#include "models/cpu/cpu_model.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/number_text.hpp"

namespace auspex::models {

std::string background_note(const CpuModel& cpu) {
    return cpu.background_load > 0
               ? "the machine was measured beside other work, which had up to " + percent(cpu.background_load, 0) +
                     " of its cores' time: predicted times may be too long, and the order of layouts that are close "
                     "can be wrong; auspex calibrate --fresh measures it again"
               : "";
}

CpuModel at_speed(CpuModel cpu, double speed) {
    AUSPEX_CHECK(speed > 0, "cores run");
    for (auto& costs : cpu.kernel_costs) {
        for (CpuKernelCost& cost : costs) {
            for (double& seconds : cost.seconds_per) {
                seconds /= speed;
            }
        }
    }
    for (MessageCosts* const costs : {&cpu.intra_node, &cpu.inter_node}) {
        for (double* const seconds :
             {&costs->send_s, &costs->receive_s, &costs->send_byte_s, &costs->receive_byte_s, &costs->rendezvous_s}) {
            *seconds /= speed;
        }
    }
    cpu.poll_s /= speed;
    cpu.context_switch_s /= speed;
    return cpu;
}

double miss_ratio(double capacity_bytes, double set_bytes) {
    return std::clamp(set_bytes / capacity_bytes - 1, 0.0, 1.0);
}

double miss_ratio(const CpuModel& cpu, const CpuKernelCost& cost, const WorkingSet& set) {
    const double capacity = cost.capacity_bytes > 0 ? cost.capacity_bytes : cpu.cache_bytes;
    return std::max(miss_ratio(capacity, set.of_core), miss_ratio(cpu.cache_bytes, set.of_computer));
}

double miss_byte_s(const CpuModel& cpu, const CpuKernelCost& cost) {
    return cost.miss_byte_s > 0 ? cost.miss_byte_s : 1 / cpu.core_memory_bytes_per_s;
}

double cpu_seconds(const CpuModel& cpu, const CpuCall& call, CpuPrecision precision) {
    const CpuKernelCost& cost =
        cpu.kernel_costs[static_cast<std::size_t>(precision)][static_cast<std::size_t>(call.kernel)];
    AUSPEX_CHECK(cost.known, "a call is timed by a law that the machine file has");
    const std::array<double, kMaxCpuTerms> sizes = cpu_sizes(call);
    double seconds = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        seconds += cost.seconds_per[i] * sizes[i];
    }
    return seconds;
}

double send_cpu_s(const MessageCosts& costs, double bytes, bool is_inter_node) {
    return costs.send_s + (is_inter_node || bytes <= costs.eager_bytes ? bytes * costs.send_byte_s : 0);
}

double receive_cpu_s(const MessageCosts& costs, double bytes) {
    return costs.receive_s + bytes * costs.receive_byte_s + (bytes > costs.eager_bytes ? costs.rendezvous_s : 0);
}

}  // namespace auspex::models
