/// @file Siblings among groups, and their communications on the network.
#include "sim/graph/graph_costs.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/mix64.hpp"
#include "schedule/step_length.hpp"
#include "sim/network/collective/job_groups.hpp"
#include "sim/network/use/expected_noise.hpp"

namespace auspex::graph {
namespace {

/// Equal for programs with the same communications in the same order, whatever they compute between.
std::uint64_t shape_of(const RankProgram& program) {
    std::uint64_t hash = 0;
    const auto add = [&hash](std::uint64_t value) { hash = mix64(hash ^ (value + kGoldenGamma)); };
    for (const GraphNode& node : program.nodes) {
        if (node.kind == NodeKind::kCollective || node.kind == NodeKind::kSend || node.kind == NodeKind::kReceive) {
            add(static_cast<std::uint64_t>(node.kind) << 8U | static_cast<std::uint64_t>(node.comm));
            add(node.place);
            add(static_cast<std::uint64_t>(node.bytes));
        }
    }
    return hash;
}

}  // namespace

GraphCosts::GraphCosts(const GraphJob& job, const models::Machine& machine, const models::Stack& stack,
                       const models::Layout& layout)
    : job_(job), machine_(machine), stack_(stack), network_(machine, stack, layout), of_peer_(job.ranks.size()) {
    network_.list_all_links();
    find_siblings();
}

void GraphCosts::find_siblings() {
    std::vector<std::uint64_t> shapes;
    for (const RankProgram& program : job_.programs) {
        shapes.push_back(shape_of(program));
    }
    std::vector<std::map<int, std::uint64_t>> places(job_.groups.size());  // by group and rank: its shape and place
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
        const RankPlace& place = job_.ranks[rank];
        for (std::uint32_t p = 0; p < place.groups.size(); ++p) {
            places[place.groups[p]][static_cast<int>(rank)] = mix64(shapes[place.program] + p);
        }
    }
    std::map<std::vector<std::uint64_t>, std::vector<std::uint32_t>> families;
    for (std::uint32_t group = 0; group < job_.groups.size(); ++group) {
        std::vector<std::uint64_t> signature;
        for (const int rank : job_.groups[group]) {
            signature.push_back(places[group].contains(rank) ? places[group].at(rank) : 0);
        }
        families[signature].push_back(group);
    }
    of_group_.resize(job_.groups.size());
    for (const auto& [signature, members] : families) {
        std::vector<std::vector<int>> siblings;
        std::vector<int> ranks;
        for (const std::uint32_t group : members) {
            siblings.push_back(job_.groups[group]);
            ranks.insert(ranks.end(), siblings.back().begin(), siblings.back().end());
        }
        std::sort(ranks.begin(), ranks.end());
        const bool are_apart = std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end();
        const int list = are_apart ? network_.list_groups(siblings, false) : -1;
        for (std::size_t m = 0; m < members.size(); ++m) {
            of_group_[members[m]] =
                are_apart ? Sibling{list, static_cast<int>(m)} : Sibling{network_.list_groups({siblings[m]}, false), 0};
        }
    }
    find_pairs(shapes);
}

void GraphCosts::find_pairs(const std::vector<std::uint64_t>& shapes) {
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<std::vector<int>>> families;  // by shape and place
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
        const RankPlace& place = job_.ranks[rank];
        for (std::uint32_t p = 0; p < place.peers.size(); ++p) {
            families[{shapes[place.program], p}].push_back({static_cast<int>(rank), place.peers[p]});
        }
    }
    for (const auto& [key, pairs] : families) {
        const int list = network_.list_groups(pairs, true);
        for (std::size_t m = 0; m < pairs.size(); ++m) {
            std::vector<Sibling>& of_rank = of_peer_[static_cast<std::size_t>(pairs[m].front())];
            of_rank.resize(std::max<std::size_t>(of_rank.size(), key.second + std::size_t{1}));
            of_rank[key.second] = {list, static_cast<int>(m)};
        }
    }
}

const GraphTransfer& GraphCosts::collective(std::uint32_t group, const GraphNode& node) {
    return unroll(node.comm, of_group_[group], node.bytes, node.is_shard);
}

const GraphTransfer& GraphCosts::message(int rank, const GraphNode& node) {
    return unroll(schedule::CommKind::kSend, of_peer_[static_cast<std::size_t>(rank)][node.place], node.bytes, false);
}

const GraphTransfer& GraphCosts::unroll(schedule::CommKind comm, Sibling sibling, double bytes, bool is_shard) {
    const auto [found, is_new] = transfers_.try_emplace(Key{comm, sibling.list, sibling.member, bytes, is_shard});
    GraphTransfer& transfer = found->second;
    if (!is_new) {
        return transfer;
    }
    const network::Transfer unrolled =
        network_.unroll(comm, network::kListedGroups, sibling.list, bytes, 1, sibling.member);
    transfer.phases = unrolled.phases;
    for (network::TransferPhase& phase : transfer.phases) {
        phase.bytes *= is_shard && unrolled.leaves_node ? 1 / stack_.shard_efficiency : 1;
        transfer.solo_time = sum_of_times(transfer.solo_time, to_picoseconds(phase.latency_s));
        transfer.solo_time =
            sum_of_times(transfer.solo_time, to_picoseconds_up(phase.bytes / network_.solo_rate(phase.pattern)));
    }
    if (transfer.solo_time >= kLongestTime) {
        schedule::refuse_long_step("one of its communications");
    }
    transfer.jitter = network::jitter_of_rounds(machine_.noise, unrolled.rounds, unrolled.leaves_node);
    return transfer;
}

}  // namespace auspex::graph
