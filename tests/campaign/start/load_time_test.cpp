/// @file Loads in closed form: lookups, reading, what goes from one replica to the others.
#include "campaign/start/load_time.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace auspex::campaign {
namespace {

/// 10 TB/s of storage, a job reads 4 GB/s; eight NICs of 25 GB/s a node.
models::Machine machine(bool knows_starts) {
    models::Machine machine = models::load_machine(JsonDocument::load("machines/aurora.json"));
    machine.storage = {10e12, 10e12, 0, 4e9, 2, 0.25};
    machine.node.nic_bytes_per_s = 25e9;
    machine.startup = {};
    if (knows_starts) {
        machine.startup.storage = {2e9, 8e9, 10e9, 1e4, 2e4};  // node, shared, local; lookups
    }
    return machine;
}

TEST(LoadTime, one_replica_reads_and_broadcasts) {
    const LoadSize size{1e12, 1e11, 100, 1200, 10, 10, true, false};
    const LoadTime time = load_time(machine(true), size);
    EXPECT_DOUBLE_EQ(time.lookup_s, 1200 / 1e4);
    EXPECT_DOUBLE_EQ(time.read_s, 1e12 / 4e9);
    EXPECT_DOUBLE_EQ(time.spread_s, 1e11 / (10 * 8 * 25e9));
    EXPECT_FALSE(time.is_of_nodes);
    // Without facts of starts nothing is looked up, and nodes read as fast as their NICs.
    EXPECT_DOUBLE_EQ(load_time(machine(false), size).lookup_s, 0);
    EXPECT_DOUBLE_EQ(load_time(machine(false), size).total_s(), 250 + 0.05);
}

TEST(LoadTime, without_the_broadcast_every_replica_reads_the_model) {
    const LoadSize size{1e12, 1e11, 100, 1200, 10, 10, false, false};
    EXPECT_DOUBLE_EQ(load_time(machine(true), size).read_s, 1e12 / 4e9 + 9 * 1e11 / 8e9);
    EXPECT_DOUBLE_EQ(load_time(machine(false), size).read_s, 1e12 / 4e9 + 9 * 1e11 / 10e12);
    EXPECT_EQ(load_time(machine(true), size).spread_s, 0);
}

TEST(LoadTime, few_nodes_read_as_fast_as_they_can) {
    const LoadTime one = load_time(machine(true), {1e11, 1e11, 1, 12, 12, 1, false, false});
    EXPECT_DOUBLE_EQ(one.read_s, 12 * 1e11 / 2e9);
    EXPECT_TRUE(one.is_of_nodes);
    // The one replica's node reads all of the model, whatever the others do.
    const LoadTime broadcast = load_time(machine(true), {1e11, 1e11, 100, 1200, 100, 1, true, false});
    EXPECT_DOUBLE_EQ(broadcast.read_s, 1e11 / 2e9);
    EXPECT_TRUE(broadcast.is_of_nodes);
}

TEST(LoadTime, lookups_of_all_shards_grow_with_the_square_of_ranks) {
    const auto lookup_s = [](double ranks) {
        return load_time(machine(true), {0, 0, 100, ranks, 1, 100, false, true}).lookup_s;
    };
    EXPECT_DOUBLE_EQ(lookup_s(1000), 1e6 / 1e4);
    EXPECT_DOUBLE_EQ(lookup_s(2000), 4 * lookup_s(1000));
}

TEST(LoadTime, a_broadcast_is_never_slower_and_more_replicas_are_never_faster) {
    double before = 0;
    for (const int replicas : {1, 2, 8, 64}) {
        LoadSize size{1e12, 1e11, 64, 768, static_cast<double>(replicas), 64 / replicas, false, false};
        const double storm_s = load_time(machine(true), size).total_s();
        EXPECT_GE(storm_s, before);
        before = storm_s;
        size.is_broadcast = true;
        EXPECT_LE(load_time(machine(true), size).total_s(), storm_s) << replicas;
    }
}

}  // namespace
}  // namespace auspex::campaign
