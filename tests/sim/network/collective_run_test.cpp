/// @file One collective by itself: which ranks form its groups, its bandwidths, and the choice among algorithms.
#include "sim/network/collective/collective_run.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/json.hpp"
#include "network_fixture.hpp"

namespace auspex::network {
namespace {

using testing_network::mesh_machine;
using testing_network::plain_stack;
using testing_network::switch_machine;

std::vector<std::vector<int>> groups_of_job(int ranks, int group_size, int stride) {
    CollectiveJob job;
    job.ranks = ranks;
    job.group_size = group_size;
    job.stride = stride;
    return groups_of(layout_of_job(job, mesh_machine()), kJobGroups, 0);
}

TEST(CollectiveRun, groups_are_the_ranks_that_are_a_stride_apart_in_blocks) {
    // Blocks of group x stride ranks; group s of a block has its ranks s, s + stride, s + 2 stride …
    using Groups = std::vector<std::vector<int>>;
    EXPECT_EQ(groups_of_job(6, 6, 1), (Groups{{0, 1, 2, 3, 4, 5}}));
    EXPECT_EQ(groups_of_job(6, 3, 1), (Groups{{0, 1, 2}, {3, 4, 5}}));
    EXPECT_EQ(groups_of_job(8, 2, 2), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
    const Groups one_a_node = groups_of_job(96, 8, 12);
    ASSERT_EQ(one_a_node.size(), 12U);
    EXPECT_EQ(one_a_node[5], (std::vector<int>{5, 17, 29, 41, 53, 65, 77, 89}));
}

TEST(CollectiveRun, bus_factor_is_that_of_nccl_tests) {
    // n = 8: all-reduce 2 (n - 1) / n, halves of it (n - 1) / n (nccl-tests, doc/PERFORMANCE.md).
    EXPECT_DOUBLE_EQ(bus_factor(schedule::CommKind::kAllReduce, 8), 14.0 / 8);
    EXPECT_DOUBLE_EQ(bus_factor(schedule::CommKind::kReduceScatter, 8), 7.0 / 8);
    EXPECT_DOUBLE_EQ(bus_factor(schedule::CommKind::kAllGather, 8), 7.0 / 8);
    EXPECT_DOUBLE_EQ(bus_factor(schedule::CommKind::kAllToAll, 8), 7.0 / 8);
    EXPECT_DOUBLE_EQ(bus_factor(schedule::CommKind::kBroadcast, 8), 1);
}

// A ring on one switch of 400 GB/s ports: its bus bandwidth comes near the port.
TEST(CollectiveRun, bus_bandwidth_of_a_large_ring_is_the_port_s) {
    models::Machine machine = switch_machine();
    machine.tile.hbm_bytes_per_s = 1e21;
    CollectiveJob job;
    job.ranks = job.group_size = 8;
    const models::Layout layout = layout_of_job(job, machine);
    Network network(machine, plain_stack(), layout);
    for (const schedule::CommKind comm :
         {schedule::CommKind::kAllReduce, schedule::CommKind::kReduceScatter, schedule::CommKind::kAllGather}) {
        job.comm = comm;
        const CollectiveResult result =
            time_collective(network, layout, job, {models::CollectiveAlgorithm::kRing, 1}, 1e12);
        EXPECT_NEAR(result.bus_bytes_per_s, 400e9, 0.001 * 400e9);
        EXPECT_EQ(result.bottleneck, to_string(LinkKind::kSwitchPort));
        EXPECT_DOUBLE_EQ(result.bytes_per_s, result.bytes / result.time_s);
    }
}

TEST(CollectiveRun, automatic_choice_is_the_first_alternative_and_phases_add_up) {
    models::Machine machine = mesh_machine();
    machine.tile.hbm_bytes_per_s = 1e12;
    CollectiveJob job;
    job.ranks = job.group_size = 12 * 128;  // two groups of the dragonfly
    const models::Layout layout = layout_of_job(job, machine);
    Network network(machine, plain_stack(), layout);
    for (const double bytes : {8.0, 1e6, 1e9}) {
        const CollectiveResult result =
            time_collective(network, layout, job, {models::CollectiveAlgorithm::kAuto, 0}, bytes);
        EXPECT_EQ(result.choice, result.alternatives.front().choice);
        EXPECT_DOUBLE_EQ(result.time_s, result.alternatives.front().time_s);
        for (const auto& alternative : result.alternatives) {
            EXPECT_GE(alternative.time_s, result.time_s);
        }
        EXPECT_GT(result.alternatives.back().time_s, 1.05 * result.time_s) << "some choices are worse";
        EXPECT_EQ(result.alternatives.size(), candidates(job.comm, form_of_job(network, layout), 0).size());
        double sum_s = 0;
        for (const CollectivePhase& phase : result.phases) {
            sum_s += phase.time_s;
        }
        EXPECT_NEAR(sum_s, result.time_s, 1e-12);
        const CollectiveResult over_two =
            time_collective(network, layout, job, {models::CollectiveAlgorithm::kAuto, 2}, bytes);
        EXPECT_EQ(over_two.choice.levels, 2);
        EXPECT_GE(over_two.time_s, result.time_s);
    }
}

TEST(CollectiveRun, one_group_alone_is_not_slowed_by_its_siblings) {
    models::Machine machine = mesh_machine();
    machine.tile.hbm_bytes_per_s = 1e21;
    CollectiveJob job;
    job.ranks = 96, job.group_size = 8, job.stride = 12;
    const models::Layout layout = layout_of_job(job, machine);
    const auto ring = [&] {
        Network network(machine, plain_stack(), layout);
        return time_collective(network, layout, job, {models::CollectiveAlgorithm::kRing, 1}, 1e9);
    };
    const CollectiveResult together = ring();
    job.alone = true;
    const CollectiveResult alone = ring();
    const double transport_s = 2 * 7.0 / 8 * 1e9 / 10e9;  // 2 (n - 1)/n B at the rate of a rank
    EXPECT_NEAR(alone.time_s, transport_s, 0.01 * transport_s);
    EXPECT_EQ(alone.bottleneck, to_string(LinkKind::kRankTransport));
    // 12 ranks on 8 NICs: four of these carry two rings.
    const double nic_s = 2 * 7.0 / 8 * 1e9 * 2 / machine.node.nic_bytes_per_s;
    EXPECT_NEAR(together.time_s, std::max(nic_s, transport_s), 0.01 * nic_s);
}

// Two tiles that exchange halves, twice, share what both directions carry together; a broadcast goes one way.
TEST(CollectiveRun, an_exchange_is_bound_by_both_directions_together_and_one_direction_is_not) {
    models::Machine machine = mesh_machine();
    machine.tile.hbm_bytes_per_s = 1e21;
    machine.node.mesh_both_bytes_per_s = 1.5 * machine.node.mesh_bytes_per_s;
    CollectiveJob job;
    job.ranks = 12, job.group_size = 2, job.stride = 6;
    job.alone = true;
    const models::Layout layout = layout_of_job(job, machine);
    Network network(machine, plain_stack(), layout);
    const CollectiveResult exchange =
        time_collective(network, layout, job, {models::CollectiveAlgorithm::kDirect, 1}, 1e9);
    const double exchange_s = 2 * 0.5e9 / (0.75 * machine.node.mesh_bytes_per_s);
    EXPECT_NEAR(exchange.time_s, exchange_s, 0.01 * exchange_s);
    EXPECT_EQ(exchange.bottleneck, to_string(LinkKind::kMeshBothWays));
    job.comm = schedule::CommKind::kBroadcast;
    const CollectiveResult one_way =
        time_collective(network, layout, job, {models::CollectiveAlgorithm::kDirect, 1}, 1e9);
    const double one_way_s = 1e9 / machine.node.mesh_bytes_per_s;
    EXPECT_NEAR(one_way.time_s, one_way_s, 0.01 * one_way_s);
}

// A ring adds a piece of B/n in each of n - 1 rounds: it reads it and its own and writes the sum, 3 passes.
TEST(CollectiveRun, adding_up_is_apart_from_latency) {
    models::Machine machine = switch_machine();
    machine.tile.hbm_bytes_per_s = 1e12;
    machine.tile.memory_efficiency = 0.5;
    CollectiveJob job;
    job.ranks = job.group_size = 8;
    const models::Layout layout = layout_of_job(job, machine);
    Network network(machine, plain_stack(), layout);
    const CollectiveResult result = time_collective(network, layout, job, {models::CollectiveAlgorithm::kRing, 1}, 8e9);
    ASSERT_EQ(result.phases.size(), 2U);
    EXPECT_DOUBLE_EQ(result.phases[0].reduction_s, 7 * 3 * 1e9 / (1e12 * 0.5));
    EXPECT_DOUBLE_EQ(result.phases[1].reduction_s, 0);
    EXPECT_NEAR(result.phases[0].latency_s - plain_stack().collective_launch_s, result.phases[1].latency_s, 1e-12);
    for (const CollectivePhase& phase : result.phases) {
        EXPECT_NEAR(phase.time_s, phase.latency_s + phase.reduction_s + phase.bytes / phase.rate_bytes_per_s, 1e-12);
    }
}

// reduction_bandwidth R of the software goes before the device's memory: 7 rounds of 3 passes over B/n.
TEST(CollectiveRun, a_stack_may_say_at_what_rate_it_adds_up) {
    const models::Machine machine = switch_machine();
    models::Stack stack = plain_stack();
    stack.reduction_bytes_per_s = 20e9;
    CollectiveJob job;
    job.ranks = job.group_size = 8;
    const models::Layout layout = layout_of_job(job, machine);
    Network network(machine, stack, layout);
    const CollectiveResult result = time_collective(network, layout, job, {models::CollectiveAlgorithm::kRing, 1}, 8e9);
    EXPECT_DOUBLE_EQ(result.phases.at(0).reduction_s, 7 * 3 * 1e9 / 20e9);
}

TEST(CollectiveRun, the_largest_part_of_a_phase_bounds_it) {
    // Of 8 bytes the rounds; of 8 GB adding up at 1 GB/s, far below the wire, or else the wire.
    CollectiveJob job;
    job.ranks = job.group_size = 8;
    const auto bottleneck = [&](double hbm_bytes_per_s, double bytes) {
        models::Machine machine = switch_machine();
        machine.tile.hbm_bytes_per_s = hbm_bytes_per_s;
        const models::Layout layout = layout_of_job(job, machine);
        Network network(machine, plain_stack(), layout);
        return time_collective(network, layout, job, {models::CollectiveAlgorithm::kRing, 1}, bytes)
            .phases[0]
            .bottleneck;
    };
    EXPECT_EQ(bottleneck(1e15, 8), "latency");
    EXPECT_EQ(bottleneck(1e9, 8e9), "reduction");
    EXPECT_EQ(bottleneck(1e15, 8e9), to_string(LinkKind::kSwitchPort));
}

// Rabenseifner over many nodes: the exchange in the node is the longest phase, the rounds between nodes are longer
// together.
TEST(CollectiveRun, the_bottleneck_is_the_one_whose_phases_take_longest_together) {
    const models::Machine machine = models::load_machine(JsonDocument::load("machines/aurora.json"));
    CollectiveJob job;
    job.ranks = job.group_size = 12 * 1024;
    const models::Layout layout = layout_of_job(job, machine);
    Network network(machine, models::load_stack(JsonDocument::load("stacks/optimus.json")), layout);
    const CollectiveResult result =
        time_collective(network, layout, job, {models::CollectiveAlgorithm::kRabenseifner, 2}, 32 << 20);
    std::map<std::string, double> sums;
    CollectivePhase longest;
    for (const CollectivePhase& phase : result.phases) {
        sums[phase.bottleneck] += phase.time_s;
        longest = phase.time_s > longest.time_s ? phase : longest;
    }
    for (const auto& [bottleneck, time_s] : sums) {
        EXPECT_LE(time_s, sums.at(result.bottleneck)) << bottleneck;
    }
    EXPECT_NE(longest.bottleneck, result.bottleneck) << "a case in which the two differ";
}

TEST(CollectiveRun, drawn_placements_depend_on_the_seed_alone) {
    const auto nodes = [](models::PlacementKind placement, std::uint64_t seed) {
        CollectiveJob job;
        job.ranks = job.group_size = 96;
        job.placement = placement;
        job.placement_seed = seed;
        return layout_of_job(job, mesh_machine()).node_of_job_node;
    };
    for (const models::PlacementKind placement : {models::PlacementKind::kRandom, models::PlacementKind::kScheduled}) {
        EXPECT_EQ(nodes(placement, 1), nodes(placement, 1));
        EXPECT_NE(nodes(placement, 1), nodes(placement, 2));
    }
}

}  // namespace
}  // namespace auspex::network
