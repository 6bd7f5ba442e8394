/// @file Cost of the network model: max-min, building patterns, and all patterns of a job of 12,288 tiles.
#include <benchmark/benchmark.h>

#include <limits>

#include "base/rng.hpp"
#include "models/layout.hpp"
#include "sim/network/collective/flow_pattern.hpp"
#include "sim/network/collective/network.hpp"
#include "sim/network/sharing/max_min.hpp"

namespace auspex {
namespace {

/// Nodes of 12 tiles, full mesh between 6 cards, 8 host-attached NICs; a dragonfly of 64 nodes a group.
models::Machine machine_of_12_tiles() {
    models::Machine machine;
    models::Node& node = machine.node;
    node.tiles = 12;
    node.tiles_per_card = 2;
    node.sockets = 2;
    node.scale_up = models::ScaleUpKind::kMeshOfPairs;
    node.pair_bytes_per_s = 185e9;
    node.mesh_bytes_per_s = 31e9;
    node.scale_up_latency_s = 2e-6;
    node.pcie_bytes_per_s = 50e9;
    node.socket_out_bytes_per_s = node.socket_in_bytes_per_s = 150e9;
    node.nics = 8;
    node.nic_bytes_per_s = 23e9;
    node.nic_attachment = models::NicAttachment::kHost;
    node.nic_latency_s = 3e-6;
    models::FabricRecipe& fabric = machine.fabric;
    fabric.kind = models::FabricKind::kDragonfly;
    fabric.link_bytes_per_s = 25e9;
    fabric.groups = 166;
    fabric.nodes_per_group = 64;
    fabric.switches_per_group = 32;
    fabric.global_links = 2;
    fabric.max_nodes = 166 * 64;
    fabric.detour_delay_s = 10e-6;
    fabric.local_detour_delay_s = 2e-6;
    return machine;
}

models::Stack stack_with(models::CollectiveAlgorithm algorithm, int levels = 1) {
    models::Stack stack;
    stack.rank_bytes_per_s = 5e9;
    stack.all_reduce = stack.reduce_scatter = stack.all_gather = stack.all_to_all =
        stack.broadcast = {{std::numeric_limits<double>::infinity(), algorithm, levels}};
    return stack;
}

/// The grid of Mula-220B: 12 experts' ranks a node, 8 stages, one node apart.
models::Layout layout_of_8_stages(const models::Machine& machine, int tiles) {
    models::Plan plan;
    plan.pp = 8;
    plan.ep = 12;
    plan.dp = tiles / 96;
    return make_layout(plan, machine, tiles);
}

/// Random flows over 6 links each: as many as a large job has at once, one by one.
void max_min(benchmark::State& state) {
    const auto flows = static_cast<std::size_t>(state.range(0)), links = static_cast<std::size_t>(state.range(1));
    Rng rng(1);
    std::vector<double> capacities(links);
    for (double& capacity : capacities) {
        capacity = 1 + static_cast<double>(rng.below(4));
    }
    std::vector<std::vector<network::LinkLoad>> loads(flows);
    for (std::vector<network::LinkLoad>& flow : loads) {
        const std::size_t first = rng.below(links);
        for (std::size_t leg = 0; leg < 6; ++leg) {
            flow.push_back({static_cast<std::uint32_t>((first + leg * 7919) % links), 1});
        }
    }
    const std::vector<network::LoadList> classes(loads.begin(), loads.end());
    const std::vector<double> rates = max_min_rates(capacities, classes);
    std::vector<double> carried(links, 0);
    for (std::size_t f = 0; f < flows; ++f) {
        for (const network::LinkLoad& on : loads[f]) {
            carried[on.link] += rates[f];
        }
    }
    for (std::size_t l = 0; l < links; ++l) {
        if (carried[l] > capacities[l] * (1 + 1e-9)) {
            state.SkipWithError("a link carries more than its capacity");
        }
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(max_min_rates(capacities, classes));
    }
}
BENCHMARK(max_min)->Args({1'000, 1'000})->Args({10'000, 7'000})->Args({100'000, 70'000})->Unit(benchmark::kMillisecond);

void build_fabric(benchmark::State& state) {
    const models::Machine machine = machine_of_12_tiles();
    const models::Stack stack = stack_with(models::CollectiveAlgorithm::kRing);
    const models::Layout layout = layout_of_8_stages(machine, static_cast<int>(state.range(0)));
    for (auto _ : state) {
        benchmark::DoNotOptimize(network::Fabric(machine, stack, layout).link_count());
    }
}
BENCHMARK(build_fabric)->Arg(12'288)->Arg(120'960)->Unit(benchmark::kMillisecond);

void build_pattern(benchmark::State& state, models::GroupKind group, network::StepShape shape) {
    const models::Machine machine = machine_of_12_tiles();
    const models::Layout layout = layout_of_8_stages(machine, 12'288);
    const network::Fabric fabric(machine, stack_with(models::CollectiveAlgorithm::kRing), layout);
    network::PatternBuilder builder(fabric);
    const network::GroupSet groups = network::flatten(groups_of(layout, group, 0));
    for (auto _ : state) {
        benchmark::DoNotOptimize(builder.build({group, 0, network::Level::kFlat, shape, 1}, groups, {}));
    }
}
BENCHMARK_CAPTURE(build_pattern, ring_of_128_nodes, models::GroupKind::kExpertDp, network::StepShape::kShift);
BENCHMARK_CAPTURE(build_pattern, all_pairs_in_nodes, models::GroupKind::kEp, network::StepShape::kAllPairs);
BENCHMARK_CAPTURE(build_pattern, all_pairs_of_1536_ranks, models::GroupKind::kStage, network::StepShape::kAllPairs);

/// What a step of the job asks for: gathers and scatters of experts, sends both ways, reductions of both kinds of
/// parameters, world reductions.
void unroll_all(network::Network& network) {
    for (int stage = 0; stage < 8; ++stage) {
        benchmark::DoNotOptimize(network.unroll(schedule::CommKind::kAllGather, models::GroupKind::kEp, stage, 151e6));
        benchmark::DoNotOptimize(network.unroll(schedule::CommKind::kSend, models::GroupKind::kNextStage, stage, 12e6));
        benchmark::DoNotOptimize(
            network.unroll(schedule::CommKind::kSend, models::GroupKind::kPreviousStage, stage, 12e6));
        for (const models::GroupKind group : {models::GroupKind::kExpertDp, models::GroupKind::kDenseDp}) {
            benchmark::DoNotOptimize(network.unroll(schedule::CommKind::kReduceScatter, group, stage, 1e9));
            benchmark::DoNotOptimize(network.unroll(schedule::CommKind::kAllGather, group, stage, 1e9));
        }
    }
    benchmark::DoNotOptimize(network.unroll(schedule::CommKind::kAllReduce, models::GroupKind::kWorld, 0, 8));
    benchmark::DoNotOptimize(network.unroll(schedule::CommKind::kBarrier, models::GroupKind::kWorld, 0, 0));
}

void all_patterns_of_a_job(benchmark::State& state) {
    const models::Machine machine = machine_of_12_tiles();
    const models::Stack stack = stack_with(models::CollectiveAlgorithm::kRing, 2);
    const models::Layout layout = layout_of_8_stages(machine, static_cast<int>(state.range(0)));
    std::size_t patterns = 0;
    for (auto _ : state) {
        network::Network network(machine, stack, layout);
        unroll_all(network);
        patterns = network.pattern_count();
    }
    state.counters["patterns"] = static_cast<double>(patterns);
}
BENCHMARK(all_patterns_of_a_job)->Arg(3'072)->Arg(12'288)->Unit(benchmark::kMillisecond);

/// A set that was never seen: sends of neighbouring stages beside the reductions of others.
void solve_a_new_set(benchmark::State& state) {
    const models::Machine machine = machine_of_12_tiles();
    const models::Stack stack = stack_with(models::CollectiveAlgorithm::kRing);
    const models::Layout layout = layout_of_8_stages(machine, 12'288);
    for (auto _ : state) {
        state.PauseTiming();
        network::Network network(machine, stack, layout);
        std::vector<network::PatternId> active;
        for (int stage = 0; stage < 8; ++stage) {
            const schedule::CommKind comm = stage % 2 == 0 ? schedule::CommKind::kSend : schedule::CommKind::kAllGather;
            const models::GroupKind group =
                stage % 2 == 0 ? models::GroupKind::kNextStage : models::GroupKind::kExpertDp;
            active.push_back(network.unroll(comm, group, stage, 1e6).phases.front().pattern);
        }
        state.ResumeTiming();
        benchmark::DoNotOptimize(network.rates(active));
    }
}
BENCHMARK(solve_a_new_set)->Unit(benchmark::kMillisecond);

void look_up_a_set(benchmark::State& state) {
    const models::Machine machine = machine_of_12_tiles();
    const models::Stack stack = stack_with(models::CollectiveAlgorithm::kRing);
    network::Network network(machine, stack, layout_of_8_stages(machine, 3'072));
    std::vector<network::PatternId> even, odd;
    for (int stage = 0; stage < 8; ++stage) {
        (stage % 2 == 0 ? even : odd)
            .push_back(network.unroll(schedule::CommKind::kAllGather, models::GroupKind::kEp, stage, 1e6)
                           .phases.front()
                           .pattern);
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(network.rates(even));
        benchmark::DoNotOptimize(network.rates(odd));
    }
}
BENCHMARK(look_up_a_set);

}  // namespace
}  // namespace auspex

BENCHMARK_MAIN();
