#pragma once
/// @file Inputs for whole steps: shipped ones, random ones, and ones in which communication costs nothing.
#include <string>
#include <utility>

#include "../schedule/plan_fixture.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::testing_steps {

inline models::Inputs shipped_inputs(const std::string& plan, const std::string& workload,
                                     const std::string& stack = "optimus") {
    using testing_plans::document;
    return models::load_inputs(document("machines", "aurora"), document("stacks", stack),
                               document("workloads", workload), document("plans", plan));
}
inline models::Inputs shipped_inputs(const std::string& name) { return shipped_inputs(name, name); }

/// The seed's plan, workload and stack on Aurora. The documents are those of a toy: only the loaded values are used.
inline models::Inputs random_inputs(std::uint64_t seed, bool overlap) {
    static const models::Inputs kBase = shipped_inputs("toy-dp4", "toy-dense");
    testing_plans::Case c = testing_plans::random_case(seed, overlap);
    models::Inputs inputs = kBase;
    inputs.workload = std::move(c.workload);
    inputs.plan = std::move(c.plan);
    inputs.stack = std::move(c.stack);
    return inputs;
}

inline predict::PredictOptions plain_options(int tiles = 0) {
    predict::PredictOptions options;
    options.tiles = tiles;
    options.sensitivity = false;
    return options;
}

inline double step_s(const models::Inputs& inputs, int tiles = 0) {
    return to_seconds(simulate_step(inputs, plain_options(tiles), false).step);
}

/// Wires without limit, no latency, no noise, all tiles equal, no host work: only kernels take time.
inline void make_communication_free(models::Inputs& inputs) {
    constexpr double kUnlimited = 1e30;
    models::Node& node = inputs.machine.node;
    node.pair_bytes_per_s = node.mesh_bytes_per_s = node.switch_bytes_per_s = kUnlimited;
    node.pcie_bytes_per_s = node.socket_out_bytes_per_s = node.socket_in_bytes_per_s = node.nic_bytes_per_s =
        kUnlimited;
    node.pair_both_bytes_per_s = node.mesh_both_bytes_per_s = node.pcie_both_bytes_per_s = kUnlimited;
    node.scale_up_latency_s = node.nic_latency_s = 0;
    inputs.machine.fabric.link_bytes_per_s = kUnlimited;
    inputs.machine.fabric.switch_latency_s = 0;
    inputs.machine.noise = {};
    inputs.machine.tile.speed_sigma = 0;
    models::Stack& stack = inputs.stack;
    stack.rank_bytes_per_s = kUnlimited;
    stack.scale_up_message_s = stack.scale_out_message_s = stack.collective_launch_s = 0;
    stack.step_host_s = stack.host_sync_s = 0;
}

}  // namespace auspex::testing_steps
