/// @file Algorithms that can run, and which of them does.
#include "sim/network/collective/algorithm_choice.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace auspex::network {

using Algorithm = models::CollectiveAlgorithm;

namespace {

bool can_run(schedule::CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
    const std::span<const Algorithm> known = algorithms_of(comm);
    if (std::find(known.begin(), known.end(), choice.algorithm) == known.end()) {
        return false;
    }
    return choice.algorithm != Algorithm::kMultiRing || (choice.levels == 1 && form.nodes > 1 && form.per_node > 1);
}

}  // namespace

std::span<const models::CollectiveAlgorithm> algorithms_of(schedule::CommKind comm) {
    static constexpr std::array kAllReduce{Algorithm::kRing,   Algorithm::kRecursiveDoubling, Algorithm::kRabenseifner,
                                           Algorithm::kDirect, Algorithm::kDoubleBinaryTree,  Algorithm::kMultiRing};
    static constexpr std::array kReduceScatter{Algorithm::kRing, Algorithm::kRecursiveDoubling, Algorithm::kDirect,
                                               Algorithm::kMultiRing};
    static constexpr std::array kAllGather{Algorithm::kRing, Algorithm::kRecursiveDoubling, Algorithm::kDirect,
                                           Algorithm::kBruck, Algorithm::kMultiRing};
    static constexpr std::array kAllToAll{Algorithm::kPairwise, Algorithm::kDirect, Algorithm::kBruck};
    static constexpr std::array kBroadcast{Algorithm::kRing, Algorithm::kRecursiveDoubling, Algorithm::kDirect,
                                           Algorithm::kDoubleBinaryTree};
    static constexpr std::array kBarrier{Algorithm::kRecursiveDoubling};
    static constexpr std::array kPoint{Algorithm::kDirect};
    switch (comm) {
        case schedule::CommKind::kAllReduce: return kAllReduce;
        case schedule::CommKind::kReduceScatter: return kReduceScatter;
        case schedule::CommKind::kAllGather: return kAllGather;
        case schedule::CommKind::kAllToAll: return kAllToAll;
        case schedule::CommKind::kBroadcast: return kBroadcast;
        case schedule::CommKind::kBarrier: return kBarrier;
        case schedule::CommKind::kRowsToNodes:
        case schedule::CommKind::kRowsFromNodes:
        case schedule::CommKind::kNone:
        case schedule::CommKind::kSend:
        case schedule::CommKind::kShift:
        case schedule::CommKind::kToHost:
        case schedule::CommKind::kFromHost:
        case schedule::CommKind::kReceive: return kPoint;
    }
    check_failed("comm", "unknown kind of communication", __FILE__, __LINE__);
}

AlgorithmChoice played(schedule::CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
    if (form.per_node == 0) {
        choice.levels = 1;
    }
    if (choice.levels == 3 && form.blocks == 1) {
        choice = {Algorithm::kDirect, 2};
    }
    if (choice.levels == 3 && form.per_block <= 1) {
        choice.levels = 2;
    }
    if (choice.levels == 2 && form.nodes == 1) {
        choice = {Algorithm::kDirect, comm == schedule::CommKind::kBroadcast ? 2 : 1};
    }
    if (choice.levels == 2 && form.per_node == 1) {
        choice.levels = 1;
    }
    if (!can_run(comm, choice, form)) {
        choice.algorithm = algorithms_of(comm).front();
    }
    return choice;
}

std::vector<AlgorithmChoice> candidates(schedule::CommKind comm, const GroupForm& form, int levels) {
    constexpr int kMaxLevels = 3;
    std::vector<AlgorithmChoice> found;
    for (int n = levels == 0 ? 1 : levels; n <= (levels == 0 ? kMaxLevels : levels); ++n) {
        for (const Algorithm algorithm : algorithms_of(comm)) {
            const AlgorithmChoice choice = played(comm, {algorithm, n}, form);
            if (std::find(found.begin(), found.end(), choice) == found.end()) {
                found.push_back(choice);
            }
        }
    }
    return found;
}

std::optional<models::Collective> collective_of(schedule::CommKind comm) {
    switch (comm) {
        case schedule::CommKind::kAllReduce: return models::Collective::kAllReduce;
        case schedule::CommKind::kReduceScatter: return models::Collective::kReduceScatter;
        case schedule::CommKind::kAllGather: return models::Collective::kAllGather;
        case schedule::CommKind::kAllToAll: return models::Collective::kAllToAll;
        case schedule::CommKind::kBroadcast: return models::Collective::kBroadcast;
        default: return std::nullopt;
    }
}

std::span<const models::AlgorithmRule> collective_rules(const models::Stack& stack, schedule::CommKind comm) {
    const std::optional<models::Collective> collective = collective_of(comm);
    if (!collective) {
        return {};
    }
    // In the order of models::Collective.
    const std::array<const std::vector<models::AlgorithmRule>*, models::kCollectiveCount> rules{
        &stack.all_reduce, &stack.reduce_scatter, &stack.all_gather, &stack.all_to_all, &stack.broadcast};
    return *rules.at(static_cast<std::size_t>(*collective));
}

AlgorithmChoice choice_by_rule(std::span<const models::AlgorithmRule> rules, double bytes, const GroupForm& form) {
    const bool is_power = power_of_two_within(form.ranks) == form.ranks;
    for (const models::AlgorithmRule& rule : rules) {
        if (bytes <= rule.max_bytes && bytes / form.ranks <= rule.max_bytes_per_rank && form.nodes <= rule.max_nodes &&
            form.ranks <= rule.max_ranks && (is_power || !rule.power_of_two)) {
            return {rule.algorithm, rule.levels};
        }
    }
    return {Algorithm::kAuto, 0};
}

}  // namespace auspex::network
