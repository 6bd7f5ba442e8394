/// @file Lays a measured collective on the machine and times it.
#include "compare/fit/collective_check.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "sim/network/collective/collective_run.hpp"

namespace auspex {
namespace {

constexpr std::array<std::pair<std::string_view, CommKind>, 5> kKinds{{{"all-reduce", CommKind::kAllReduce},
                                                                       {"reduce-scatter", CommKind::kReduceScatter},
                                                                       {"all-gather", CommKind::kAllGather},
                                                                       {"all-to-all", CommKind::kAllToAll},
                                                                       {"broadcast", CommKind::kBroadcast}}};

[[noreturn]] void refuse(const Measurement& row, const std::string& found, const std::string& expected) {
    throw InputError(line_of(row), "found a collective \"" + row.name + "\" " + found + "; expected " + expected);
}

CommKind kind_of(const Measurement& row) {
    const std::string_view word = std::string_view(row.name).substr(0, row.name.find(' '));
    const auto known =
        std::find_if(kKinds.begin(), kKinds.end(), [word](const auto& kind) { return kind.first == word; });
    if (known == kKinds.end()) {
        refuse(row, "of no known kind", "all-reduce, reduce-scatter, all-gather, all-to-all or broadcast");
    }
    return known->second;
}

/// The algorithm behind the name, over the levels of the stack's rule; kAuto where none is named.
AlgorithmChoice choice_of(const Measurement& row, const Stack& stack, CommKind comm) {
    AlgorithmChoice choice = choice_by_rule(collective_rules(stack, comm), row.bytes);
    const std::size_t space = row.name.find(' ');
    if (space == std::string::npos) {
        return choice;
    }
    const std::string word = row.name.substr(space + 1);
    std::string list;
    for (const CollectiveAlgorithm algorithm : algorithms_of(comm)) {
        if (word == to_string(algorithm)) {
            return {algorithm, std::max(1, choice.levels)};
        }
        list += (list.empty() ? "" : ", ") + std::string(to_string(algorithm));
    }
    refuse(row, "with no such algorithm", "one of " + list);
}

CollectiveJob job_of(const Measurement& row, const Machine& machine, CommKind comm) {
    const int tiles = machine.node.tiles;
    if (row.ranks % row.nodes != 0 || row.ranks / row.nodes > tiles) {
        refuse(row, "of " + std::to_string(row.ranks) + " ranks on " + std::to_string(row.nodes) + " nodes",
               "equally many on each, at most " + std::to_string(tiles));
    }
    const int on_a_node = row.ranks / row.nodes;
    if (row.nodes > 1 && tiles % on_a_node != 0) {
        refuse(row, "of " + std::to_string(on_a_node) + " ranks a node", "a divisor of " + std::to_string(tiles));
    }
    CollectiveJob job;
    job.comm = comm;
    job.group_size = row.ranks;
    job.stride = tiles / on_a_node;
    job.alone = row.active == 1;
    if (!job.alone && row.active % job.stride != 0) {
        refuse(row, "of " + std::to_string(row.active) + " groups at once",
               "1 or a multiple of " + std::to_string(job.stride) + ", those that fill nodes");
    }
    job.ranks = row.ranks * std::max(row.active, job.stride);
    return job;
}

}  // namespace

double measured_collective_s(const Machine& machine, const Stack& stack, const Measurement& row) {
    const CommKind comm = kind_of(row);
    const CollectiveJob job = job_of(row, machine, comm);
    Network network(machine, stack, layout_of_job(job, machine));
    return network.solo_time_s(network.unroll_as(choice_of(row, stack, comm), comm, kJobGroups, 0, row.bytes, 1,
                                                 job.alone ? 0 : kAllSiblings));
}

}  // namespace auspex
