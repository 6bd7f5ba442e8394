#pragma once
/// @file A made-up host, rows of actions written by hand, and shipped toys on that host.
#include <string>
#include <utility>
#include <vector>

#include "../step_fixture.hpp"
#include "sim/cpu/host_player.hpp"
#include "sim/cpu/host_step.hpp"

namespace auspex::testing_hosts {

inline constexpr double kSecond = 1, kSlice = 0.01;

/// Two cores in each of eight computers of one node each; nothing costs anything but work; caches and memory without
/// limit.
inline Machine bare_machine(int cores = 2, int ranks_of_node = 16) {
    constexpr double kUnlimited = 1e30;
    Machine machine = testing_plans::machine();
    machine.file = "made-up.json";
    machine.node.tiles = machine.node.tiles_per_card = ranks_of_node;
    machine.node.sockets = 1;
    machine.node.nics = 1;
    machine.node.nic_of_tile.clear();
    machine.node.nic_bytes_per_s = kUnlimited;
    Host& host = machine.host;
    host = {};
    host.cores = cores;
    host.core_slice_s = kSlice;
    host.cache_bytes = host.cache_bytes_per_s = host.memory_bytes_per_s = host.core_memory_bytes_per_s = kUnlimited;
    host.near.eager_bytes = host.far.eager_bytes = kUnlimited;
    return machine;
}

/// Every kernel takes `start` a call and `size` for each unit of each of its other terms.
inline void give_laws(Host& host, double start, double size) {
    for (auto& laws : host.laws) {
        for (std::size_t kernel = 0; kernel < kCpuKernels; ++kernel) {
            CpuLaw& law = laws[kernel];
            law.seconds_per.fill(0);
            for (std::size_t term = 0; term < cpu_terms(static_cast<CpuKernel>(kernel)).size(); ++term) {
                law.seconds_per.at(term) = term == 0 ? start : size;
            }
            law.relative_error = 0.03;
            law.known = true;
        }
    }
}

/// A host with times of the order of a real one's.
inline Machine plausible_machine(int cores = 2, int ranks_of_node = 16) {
    Machine machine = bare_machine(cores, ranks_of_node);
    machine.node.nic_bytes_per_s = 1e9;
    Host& host = machine.host;
    host.core_slice_s = 3e-3, host.switch_s = 2e-6, host.poll_s = 1e-6;
    host.busy_speed = 0.95;
    host.cache_bytes = 32e6, host.cache_bytes_per_s = 100e9, host.memory_bytes_per_s = 30e9;
    host.core_memory_bytes_per_s = 20e9;
    host.near = {0.5e-6, 0.5e-6, 0.1e-9, 0.1e-9, 4096, 2e-6, 0};
    host.far = {5e-6, 5e-6, 0.2e-9, 0.2e-9, 65536, 20e-6, 30e-6};
    give_laws(host, 1e-6, 1e-11);
    return machine;
}

inline HostAction work(double seconds, double cache_bytes = 0, double memory_bytes = 0) {
    return {.work = {seconds, cache_bytes, memory_bytes}};
}
inline HostAction send(int to, double bytes, int tag = 0) {
    return {.type = HostAction::Type::kSend, .peer = to, .tag = tag, .bytes = bytes, .work = {}};
}
inline HostAction receive(int from, double bytes, int tag = 0) {
    return {.type = HostAction::Type::kReceive, .peer = from, .tag = tag, .bytes = bytes, .work = {}};
}
inline HostAction wait() { return {.type = HostAction::Type::kWait, .work = {}}; }

/// By rank: one row of actions.
using Ranks = std::vector<std::vector<HostAction>>;

/// Of ranks in order on the nodes.
inline HostPlaces rank_places(const Machine& machine, int ranks) {
    Layout layout;
    layout.tiles = ranks;
    layout.tiles_per_node = machine.node.tiles;
    for (int node = 0; node * machine.node.tiles < layout.tiles; ++node) {
        layout.node_of_job_node.push_back(node);
    }
    return host_places(machine, layout);
}

inline HostPlayed play_ranks_at(const Machine& machine, const HostPlaces& places, const Ranks& ranks,
                                HostManners manners = {}) {
    std::vector<bool> begun(ranks.size(), false);
    const HostProgram program{[&](int rank, HostRow& row) {
                                  const auto place = static_cast<std::size_t>(rank);
                                  if (begun[place]) {
                                      return false;
                                  }
                                  begun[place] = true;
                                  row.actions = ranks[place];
                                  row.loss = Loss::kExposedTp;
                                  return true;
                              },
                              [](int, const HostRow&, Picoseconds, Picoseconds) {}};
    return play_host_program(machine, places, manners, program);
}

inline HostPlayed play_ranks(const Machine& machine, const Ranks& ranks, HostManners manners = {}) {
    return play_ranks_at(machine, rank_places(machine, static_cast<int>(ranks.size())), ranks, manners);
}

inline double step_s(const Machine& machine, const Ranks& ranks, HostManners manners = {}) {
    return to_seconds(play_ranks(machine, ranks, manners).step);
}

/// A shipped toy on a host, with the trainer's stack.
inline Inputs toy_inputs(const std::string& plan, const std::string& workload, Machine machine) {
    Inputs inputs = testing_steps::shipped_inputs(plan, workload, "auspex");
    inputs.machine = std::move(machine);
    return inputs;
}

/// The seed's plan of a toy, of up to 16 ranks, that the trainer runs: no context parallelism, experts split over tp as
/// the rest, nothing gathered layer by layer, nothing overlapped.
inline Inputs trainable_inputs(std::uint64_t seed, Machine machine) {
    Inputs inputs = toy_inputs("toy-dp4", "toy-dense", std::move(machine));
    Rng rng(seed);
    for (;;) {
        Plan plan = testing_plans::detail::draw_plan(rng, false);
        inputs.workload = testing_plans::workload(rng.below(2) == 0 ? "toy-dense" : "toy-moe");
        plan.cp = 1;
        plan.etp = plan.tp;
        plan.optimizer = plan.optimizer == OptimizerSharding::kFsdp ? OptimizerSharding::kSharded : plan.optimizer;
        if (plan.dp * plan.ep * plan.tp * plan.pp > 16) {
            continue;
        }
        try {
            inputs.plan = resolve_plan(plan, inputs.workload, 0);
            return inputs;
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

}  // namespace auspex::testing_hosts
