/// @file Lays a measured collective on the machine and times it.
#include "compare/fit/collective_check.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "sim/network/collective/collective_run.hpp"

namespace auspex::fit {
namespace {

constexpr std::array<std::pair<std::string_view, schedule::CommKind>, 5> kKinds{
    {{"all-reduce", schedule::CommKind::kAllReduce},
     {"reduce-scatter", schedule::CommKind::kReduceScatter},
     {"all-gather", schedule::CommKind::kAllGather},
     {"all-to-all", schedule::CommKind::kAllToAll},
     {"broadcast", schedule::CommKind::kBroadcast}}};

[[noreturn]] void refuse(const models::Measurement& row, const std::string& found, const std::string& expected) {
    throw InputError(line_of(row), "found a collective \"" + row.name + "\" " + found + "; expected " + expected);
}

schedule::CommKind kind_of(const models::Measurement& row) {
    const std::string_view word = std::string_view(row.name).substr(0, row.name.find(' '));
    const auto known =
        std::find_if(kKinds.begin(), kKinds.end(), [word](const auto& kind) { return kind.first == word; });
    if (known == kKinds.end()) {
        refuse(row, "of no known kind", "all-reduce, reduce-scatter, all-gather, all-to-all or broadcast");
    }
    return known->second;
}

/// The algorithm behind the name, over the levels of the stack's rule; kAuto where none is named.
network::AlgorithmChoice choice_of(const models::Measurement& row, const models::Stack& stack, schedule::CommKind comm,
                                   const network::GroupForm& form) {
    network::AlgorithmChoice choice = network::choice_by_rule(network::collective_rules(stack, comm), row.bytes, form);
    const std::size_t space = row.name.find(' ');
    if (space == std::string::npos) {
        return choice;
    }
    const std::string word = row.name.substr(space + 1);
    std::string list;
    for (const models::CollectiveAlgorithm algorithm : network::algorithms_of(comm)) {
        if (word == to_string(algorithm)) {
            return {algorithm, std::max(1, choice.levels)};
        }
        list += (list.empty() ? "" : ", ") + std::string(to_string(algorithm));
    }
    refuse(row, "with no such algorithm", "one of " + list);
}

network::CollectiveJob job_of(const models::Measurement& row, const models::Machine& machine, schedule::CommKind comm) {
    const int tiles = machine.node.tiles;
    if (row.ranks % row.nodes != 0 || row.ranks / row.nodes > tiles) {
        refuse(row, "of " + std::to_string(row.ranks) + " ranks on " + std::to_string(row.nodes) + " nodes",
               "equally many on each, at most " + std::to_string(tiles));
    }
    const int on_a_node = row.ranks / row.nodes;
    if (row.nodes > 1 && tiles % on_a_node != 0) {
        refuse(row, "of " + std::to_string(on_a_node) + " ranks a node", "a divisor of " + std::to_string(tiles));
    }
    network::CollectiveJob job;
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

double measured_collective_s(const models::Machine& machine, const models::Stack& stack,
                             const models::Measurement& row) {
    const schedule::CommKind comm = kind_of(row);
    const network::CollectiveJob job = job_of(row, machine, comm);
    const models::Layout layout = layout_of_job(job, machine);
    network::Network network(machine, stack, layout);
    if (job.alone) {
        network.let_groups_act_alone();
    }
    const network::AlgorithmChoice choice = choice_of(row, stack, comm, form_of_job(network, layout));
    return network.solo_time_s(
        network.unroll_as(choice, comm, network::kJobGroups, 0, row.bytes, 1, job.alone ? 0 : network::kAllSiblings));
}

}  // namespace auspex::fit
