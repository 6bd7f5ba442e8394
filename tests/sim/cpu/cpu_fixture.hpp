#pragma once
/// @file Made-up CPU machines, rows of actions written by hand, and shipped toys on those machines.
#include <string>
#include <utility>
#include <vector>

#include "../step_fixture.hpp"
#include "schedule/bindings/bindings.hpp"
#include "sim/cpu/player.hpp"
#include "sim/cpu/step.hpp"

namespace auspex::testing_cpu {

inline constexpr double kSecond = 1, kSlice = 0.01;

/// Two cores in each of eight computers of one node each; nothing costs anything but work; caches and memory without
/// limit.
inline models::Machine bare_machine(int cores = 2, int ranks_of_node = 16) {
    constexpr double kUnlimited = 1e30;
    models::Machine machine = testing_plans::machine();
    machine.file = "made-up.json";
    machine.node.tiles = machine.node.tiles_per_card = ranks_of_node;
    machine.node.sockets = 1;
    machine.node.nics = 1;
    machine.node.nic_of_tile.clear();
    machine.node.nic_bytes_per_s = kUnlimited;
    models::CpuModel& cpu = machine.cpu;
    cpu = {};
    cpu.cores = cores;
    cpu.quantum_s = kSlice;
    cpu.cache_bytes = cpu.cache_bytes_per_s = cpu.memory_bytes_per_s = cpu.core_memory_bytes_per_s = kUnlimited;
    cpu.intra_node.eager_bytes = cpu.inter_node.eager_bytes = kUnlimited;
    return machine;
}

/// Every kernel takes `start` a call and `size` for each unit of each of its other terms.
inline void give_laws(models::CpuModel& cpu, double start, double size) {
    for (auto& laws : cpu.kernel_costs) {
        for (std::size_t kernel = 0; kernel < models::kCpuKernels; ++kernel) {
            models::CpuKernelCost& cost = laws[kernel];
            cost.seconds_per.fill(0);
            for (std::size_t term = 0; term < cpu_terms(static_cast<models::CpuKernel>(kernel)).size(); ++term) {
                cost.seconds_per.at(term) = term == 0 ? start : size;
            }
            cost.relative_error = 0.03;
            cost.known = true;
        }
    }
}

/// One with times of the order of a real one's.
inline models::Machine plausible_machine(int cores = 2, int ranks_of_node = 16) {
    models::Machine machine = bare_machine(cores, ranks_of_node);
    machine.node.nic_bytes_per_s = 1e9;
    models::CpuModel& cpu = machine.cpu;
    cpu.quantum_s = 3e-3, cpu.context_switch_s = 2e-6, cpu.poll_s = 1e-6;
    cpu.busy_speed = 0.95;
    cpu.cache_bytes = 32e6, cpu.cache_bytes_per_s = 100e9, cpu.memory_bytes_per_s = 30e9;
    cpu.core_memory_bytes_per_s = 20e9;
    cpu.intra_node = {0.5e-6, 0.5e-6, 0.1e-9, 0.1e-9, 4096, 2e-6, 0};
    cpu.inter_node = {5e-6, 5e-6, 0.2e-9, 0.2e-9, 65536, 20e-6, 30e-6};
    give_laws(cpu, 1e-6, 1e-11);
    return machine;
}

inline cpu::RankAction work(double seconds, double cache_bytes = 0, double memory_bytes = 0) {
    return {.work = {seconds, cache_bytes, memory_bytes}};
}
inline cpu::RankAction send(int to, double bytes, int tag = 0) {
    return {.type = cpu::RankAction::Type::kSend, .peer = to, .tag = tag, .bytes = bytes, .work = {}};
}
inline cpu::RankAction receive(int from, double bytes, int tag = 0) {
    return {.type = cpu::RankAction::Type::kReceive, .peer = from, .tag = tag, .bytes = bytes, .work = {}};
}
inline cpu::RankAction wait() { return {.type = cpu::RankAction::Type::kWait, .work = {}}; }

/// By rank: one row of actions.
using Ranks = std::vector<std::vector<cpu::RankAction>>;

/// Of ranks in order on the nodes.
inline cpu::RankLocations rank_places(const models::Machine& machine, int ranks) {
    models::Layout layout;
    layout.tiles = ranks;
    layout.tiles_per_node = machine.node.tiles;
    for (int node = 0; node * machine.node.tiles < layout.tiles; ++node) {
        layout.node_of_job_node.push_back(node);
    }
    return cpu::rank_locations(machine, layout);
}

inline cpu::CpuPlayResult play_ranks_at(const models::Machine& machine, const cpu::RankLocations& locations,
                                        const Ranks& ranks, cpu::WaitPolicy wait_policy = {}) {
    std::vector<bool> begun(ranks.size(), false);
    const cpu::CpuProgram program{[&](int rank, cpu::OperationActions& row) {
                                      const auto group_rank = static_cast<std::size_t>(rank);
                                      if (begun[group_rank]) {
                                          return false;
                                      }
                                      begun[group_rank] = true;
                                      row.actions = ranks[group_rank];
                                      row.loss = schedule::Loss::kExposedTp;
                                      return true;
                                  },
                                  [](int, const cpu::OperationActions&, Picoseconds, Picoseconds) {}};
    return play_cpu_program(machine, locations, wait_policy, program);
}

inline cpu::CpuPlayResult play_ranks(const models::Machine& machine, const Ranks& ranks,
                                     cpu::WaitPolicy wait_policy = {}) {
    return play_ranks_at(machine, rank_places(machine, static_cast<int>(ranks.size())), ranks, wait_policy);
}

inline double step_s(const models::Machine& machine, const Ranks& ranks, cpu::WaitPolicy wait_policy = {}) {
    return to_seconds(play_ranks(machine, ranks, wait_policy).step);
}

/// A shipped toy on such a machine, with the trainer's stack.
inline models::Inputs toy_inputs(const std::string& plan, const std::string& workload, models::Machine machine) {
    models::Inputs inputs = testing_steps::shipped_inputs(plan, workload, "auspex");
    inputs.machine = std::move(machine);
    return inputs;
}

/// The seed's plan of a toy, of up to 16 ranks, that the trainer runs: no context parallelism, experts split over tp as
/// the rest, tokens sent straight to their experts' ranks, nothing overlapped.
inline models::Inputs trainable_inputs(std::uint64_t seed, models::Machine machine) {
    models::Inputs inputs = toy_inputs("toy-dp4", "toy-dense", std::move(machine));
    Rng rng(seed);
    for (;;) {
        models::Plan plan = testing_plans::detail::draw_plan(rng, false);
        inputs.workload = testing_plans::workload(rng.below(2) == 0 ? "toy-dense" : "toy-moe");
        plan.dispatch = plan.dispatch == models::Dispatch::kHierarchical ? models::Dispatch::kAllToAll : plan.dispatch;
        if (plan.dp * plan.ep * plan.etp * plan.pp > 16) {
            continue;
        }
        try {
            inputs.plan = resolve_plan(plan, inputs.workload, 0);
            const schedule::Program program = schedule::build_program(inputs.workload, inputs.plan, inputs.stack,
                                                                      testing_plans::layout_of(inputs.plan));
            if (executor_runs(inputs.workload, inputs.plan, inputs.stack, program) &&
                schedule::refused_settings(inputs.workload, inputs.plan, inputs.stack).empty()) {
                return inputs;
            }
        } catch (const InputError&) {
            continue;  // no workload could run it: another draw
        }
    }
}

/// The shipped toys: plan and workload.
inline std::vector<std::pair<std::string, std::string>> toys() {
    std::vector<std::pair<std::string, std::string>> list;
    for (const auto& [plan, workload] : testing_plans::shipped()) {
        if (plan.starts_with("toy-")) {
            list.emplace_back(plan, workload);
        }
    }
    return list;
}

}  // namespace auspex::testing_cpu
