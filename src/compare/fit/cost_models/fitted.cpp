/// @file The host that predictions see; rows by what they are of.
#include "compare/fit/cost_models/fitted.hpp"

#include <algorithm>
#include <iterator>

namespace auspex::fit {
namespace {

models::MessageCosts message_costs_of(const FittedMessageCosts& fitted) {
    models::MessageCosts costs;
    costs.send_s = fitted.send_s.value;
    costs.receive_s = fitted.receive_s.value;
    costs.send_byte_s = fitted.send_byte_s.value;
    costs.receive_byte_s = fitted.receive_byte_s.value;
    costs.eager_bytes = fitted.eager_bytes.value;
    costs.rendezvous_s = fitted.rendezvous_s.value;
    costs.latency_s = fitted.latency_s.value;
    costs.burst_bytes = fitted.burst_bytes ? fitted.burst_bytes->value : 0;
    if (fitted.buffered_bytes) {
        costs.buffered_bytes = fitted.buffered_bytes->value;
    }
    return costs;
}

}  // namespace

models::CpuModel cpu_model_of(const FittedCpu& fitted) {
    models::CpuModel cpu;
    cpu.cores = fitted.cores;
    cpu.nodes_per_computer = fitted.nodes_per_computer;
    cpu.quantum_s = fitted.quantum_s.value;
    cpu.context_switch_s = fitted.context_switch_s.value;
    cpu.poll_s = fitted.poll_s.value;
    cpu.core_capacity_bytes = fitted.core_capacity_bytes.value;
    cpu.reload_byte_s = fitted.reload_byte_s.value;
    cpu.busy_speed = fitted.busy_speed.value;
    cpu.cache_bytes = fitted.cache_bytes.value;
    cpu.cache_bytes_per_s = fitted.cache_bytes_per_s.value;
    cpu.memory_bytes_per_s = fitted.memory_bytes_per_s.value;
    cpu.core_memory_bytes_per_s = fitted.core_memory_bytes_per_s.value;
    cpu.probe_s = fitted.probe_s.value;
    cpu.background_load = fitted.background_load.value;
    cpu.intra_node = message_costs_of(fitted.intra_node);
    if (fitted.inter_node) {
        cpu.inter_node = message_costs_of(*fitted.inter_node);
    }
    for (const FittedKernelCost& cost : fitted.kernel_costs) {
        models::CpuKernelCost& known =
            cpu.kernel_costs.at(static_cast<std::size_t>(cost.precision)).at(static_cast<std::size_t>(cost.kernel));
        for (std::size_t i = 0; i < cost.terms.size(); ++i) {
            known.seconds_per.at(i) = cost.terms[i].value;
        }
        known.miss_byte_s = cost.miss_byte_s ? cost.miss_byte_s->value : 0;
        known.capacity_bytes = cost.capacity_bytes ? cost.capacity_bytes->value : 0;
        known.relative_error = cost.relative_error;
        known.known = true;
    }
    return cpu;
}

std::vector<models::Measurement> rows_of(const std::vector<models::Measurement>& rows, std::string_view kind,
                                         std::string_view name) {
    std::vector<models::Measurement> found;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(found),
                 [&](const models::Measurement& row) { return row.kind == kind && row.name == name; });
    return found;
}

std::vector<models::Measurement> timed_cpu_rows(const std::vector<models::Measurement>& rows, std::string_view name) {
    std::vector<models::Measurement> found = rows_of(rows, "host", name);
    std::erase_if(found, [](const models::Measurement& row) { return row.seconds <= 0; });
    return found;
}

double largest_bytes(const std::vector<models::Measurement>& rows) {
    return std::ranges::max(rows, {}, &models::Measurement::bytes).bytes;
}

}  // namespace auspex::fit
