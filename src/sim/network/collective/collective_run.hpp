#pragma once
/// @file One collective by itself, as a benchmark plays it: the groups, the time of a size, and that of every other
/// algorithm.
#include <cstdint>
#include <string>
#include <vector>

#include "models/layout.hpp"
#include "models/machine.hpp"
#include "sim/network/collective/network.hpp"

namespace auspex::network {

/// Ranks 0 .. ranks - 1 in blocks of group_size * stride; in a block the ranks `stride` apart are a group.
struct CollectiveJob {
    schedule::CommKind comm = schedule::CommKind::kAllReduce;
    int ranks = 1;
    int group_size = 1;
    int stride = 1;
    bool alone = false;  ///< only the first group acts, not all at the same time; not on a network on which several did
    models::PlacementKind placement = models::PlacementKind::kContiguous;
    std::vector<int> placement_nodes;  ///< of PlacementKind::kList
    std::uint64_t placement_seed = 1;  ///< of PlacementKind::kRandom and kScheduled
    /// All-to-all: what each index of a group receives over the mean, the largest first; empty: even.
    std::vector<double> shares;
};

/// shares[i] proportional to (i + 1)^-exponent, mean 1.
[[nodiscard]] std::vector<double> zipf_shares(int count, double exponent);

/// The groups of every CollectiveJob in its layout.
inline constexpr models::GroupKind kJobGroups = models::GroupKind::kEp;
/// Requires `ranks` to be a multiple of group_size * stride. Throws InputError where the machine has too few nodes.
[[nodiscard]] models::Layout layout_of_job(const CollectiveJob& job, const models::Machine& machine);
/// How a group of the job lies on nodes and blocks.
[[nodiscard]] GroupForm form_of_job(const Network& network, const models::Layout& layout);

/// time_s = latency_s + reduction_s + bytes / rate_bytes_per_s, each of all rounds.
struct CollectivePhase {
    std::string what;
    int rounds = 1;
    double latency_s = 0;         ///< of messages, wires and switches
    double reduction_s = 0;       ///< adding up what is received
    double bytes = 0;             ///< on every flow
    double rate_bytes_per_s = 0;  ///< of every flow
    double time_s = 0;
    /// Of the largest of the three parts: "latency", "reduction", or the kind of link that bounds the rate.
    std::string bottleneck;
};

struct CollectiveTime {
    AlgorithmChoice choice;
    double time_s = 0;
};

struct CollectiveResult {
    double bytes = 0;
    AlgorithmChoice choice;
    double time_s = 0;
    double bytes_per_s = 0;      ///< algorithm bandwidth: bytes / time
    double bus_bytes_per_s = 0;  ///< bytes_per_s * bus_factor
    std::string bottleneck;      ///< the one whose phases take longest in sum
    std::vector<CollectivePhase> phases;
    std::vector<CollectiveTime> alternatives;  ///< candidates over any number of levels, fastest first
};

/// Of the parts of its phases, as CollectivePhase names them, the one that takes longest in sum; "" without phases.
[[nodiscard]] std::string bottleneck_of(const Network& network, const Transfer& transfer);

/// What turns bytes / time into the rate of the busiest link of a switch, n ranks: all-reduce 2 (n - 1)/n,
/// reduce-scatter, all-gather and all-to-all (n - 1)/n, broadcast 1, barrier 0.
/// Source: nccl-tests, doc/PERFORMANCE.md.
[[nodiscard]] double bus_factor(schedule::CommKind comm, int n);

/// Among more members of the outermost level than this, alternatives to a named algorithm in which every member sends
/// to every other are left out: they take long to find. kAuto tries them all.
inline constexpr int kMaxMembersOfExchange = 2048;

/// `network` is fresh where the job has shares. A choice as Network::unroll_as takes it, kAuto: the fastest candidate
/// with these levels (0: any).
[[nodiscard]] CollectiveResult time_collective(Network& network, const models::Layout& layout, const CollectiveJob& job,
                                               AlgorithmChoice choice, double bytes);

}  // namespace auspex::network
