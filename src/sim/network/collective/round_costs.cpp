/// @file Costs of messages by kind, nodes and size; waits on full links; sums.
#include "sim/network/collective/round_costs.hpp"

#include <algorithm>
#include <optional>

#include "sim/network/collective/algorithm_choice.hpp"

namespace auspex::network {
namespace {

bool holds(const models::MessageRule& rule, std::optional<models::Collective> collective, int nodes, double bytes) {
    const bool of_kind = collective ? rule.of.at(static_cast<std::size_t>(*collective)) : rule.of_others;
    return of_kind && nodes <= rule.max_nodes && bytes <= rule.max_bytes;
}

}  // namespace

MessageSoftware message_software(const models::Stack& stack, schedule::CommKind comm, int nodes, double bytes) {
    MessageSoftware software{.in_node_s = stack.scale_up_message_s, .between_nodes_s = stack.scale_out_message_s};
    const std::optional<models::Collective> collective = collective_of(comm);
    const auto rule = std::find_if(stack.messages.begin(), stack.messages.end(), [&](const models::MessageRule& one) {
        return holds(one, collective, nodes, bytes);
    });
    if (rule != stack.messages.end()) {
        software.in_node_s = rule->scale_up_message_s.value_or(stack.scale_up_message_s);
        software.between_nodes_s = rule->scale_out_message_s.value_or(stack.scale_out_message_s);
        software.bytes_per_s = rule->bytes_per_s;
        software.pipelined_rings = rule->pipelined_rings;
        software.pipelined_trees = rule->pipelined_trees;
        software.in_node_is_ruled = rule->scale_up_message_s.has_value();
    }
    return software;
}

RoundCosts::RoundCosts(const models::Machine& machine, const models::Stack& stack, const Fabric& fabric)
    : stack_(stack),
      fabric_(fabric),
      memory_bytes_per_s_(machine.tile.hbm_bytes_per_s * machine.tile.memory_efficiency),
      host_bytes_per_s_(machine.node.host_memory_bytes_per_s),
      sockets_(machine.node.sockets),
      host_copy_latency_s_(machine.node.host_copy_latency_s) {}

double RoundCosts::messages_s(schedule::CommKind comm, const GroupForm& form, const CollectiveStep& step, double scale,
                              const FlowPattern& pattern) const {
    if (is_host_copy(comm)) {
        return host_copy_latency_s_;
    }
    const MessageSoftware software = message_software(stack_, comm, form.nodes, step.bytes);
    const double flow_s = step.bytes * scale / pattern.solo_rate;
    // Of what one rank sends at once in an exchange of all with all; elsewhere one message.
    const bool many =
        (step.shape == StepShape::kAllPairs && step.level != Level::kInterNode) || step.shape == StepShape::kByNode;
    const int in_node = many ? std::max(1, form.per_node - 1) : 1;
    const double each_s = message_s(software, step, in_node, flow_s, scale, pattern);
    const bool is_tree = step.shape == StepShape::kTreesUp || step.shape == StepShape::kTreesDown;
    if (software.pipelined_rings && step.is_ring) {
        return std::max(0.0, each_s - flow_s) * step.rounds;
    }
    return each_s * (software.pipelined_trees && is_tree ? step.idle_rounds + 1 : step.rounds);
}

/// Of one round. Where the cost inside a node has a rule of its own, a rank pays it for each of `in_node` messages, and
/// for one of them while bytes flow between nodes.
double RoundCosts::message_s(const MessageSoftware& software, const CollectiveStep& step, int in_node, double flow_s,
                             double scale, const FlowPattern& pattern) const {
    const double first_s = software.in_node_s, others_s = software.in_node_is_ruled ? (in_node - 1) * first_s : 0;
    if (!pattern.leaves_node) {
        return pattern.latency_s + first_s + others_s;
    }
    const double next_s = step.bytes <= stack_.eager_bytes ? stack_.eager_message_s
                                                           : stack_.next_message_s.value_or(software.between_nodes_s);
    const double out_s = waits_s(step, pattern) + software.between_nodes_s + step.bytes * scale / software.bytes_per_s +
                         std::max(0, pattern.messages - 1) * next_s;
    if (!pattern.stays_in_node || !software.in_node_is_ruled) {
        return pattern.latency_s + out_s;
    }
    return pattern.latency_s + others_s + std::max(out_s, first_s - flow_s);
}

/// Of one round with messages of M bytes: what its last packet waits for on full links C, which n flows enter at rate
/// b each, before others detour: min(delay, M (n / C - 1 / b)), less what windows wait, which is in the rate. Many
/// rounds of a ring take as long as the mean of its edges, of which a share crosses.
double RoundCosts::waits_s(const CollectiveStep& step, const FlowPattern& pattern) const {
    double longest_s = 0;
    for (std::size_t level = 0; level < kDetourLevels; ++level) {
        const FlowPattern::Wait& wait = pattern.waits[level];
        if (wait.messages > 0) {
            const double delay_s = fabric_.detour_delay_s(static_cast<DetourLevel>(level));
            const double queued_s = step.bytes * std::max(0.0, wait.drain_s_per_byte - pattern.free_s_per_byte);
            longest_s = std::max(longest_s, std::min(delay_s, queued_s) * (step.is_ring ? wait.share : 1));
        }
    }
    return std::max(0.0, longest_s - step.bytes * pattern.window_s_per_byte);
}

/// What one of the ranks that add up at the same time reads and writes: what came to NICs on the host lies there, in
/// memory that the ranks of a socket share.
double RoundCosts::summing_bytes_per_s(const FlowPattern& pattern) const {
    if (stack_.reduction_bytes_per_s > 0) {
        return stack_.reduction_bytes_per_s;
    }
    if (!meets_in_host(pattern) || host_bytes_per_s_ == 0) {
        return memory_bytes_per_s_;
    }
    const int of_socket = (pattern.node_ranks + sockets_ - 1) / sockets_;
    return std::min(memory_bytes_per_s_, host_bytes_per_s_ / of_socket);
}

double RoundCosts::reduction_s(const CollectiveStep& step, const FlowPattern& pattern) const {
    if (step.summing_bytes <= 0) {
        return 0;
    }
    double of_step = 0;
    if (meets_in_host(pattern)) {
        const double at_once = stack_.host_reduction_bytes;
        of_step = at_once > 0 ? std::clamp(step.bytes / at_once - 1, 0.0, 1.0) : 1;
    }
    return step.summing_bytes / summing_bytes_per_s(pattern) + of_step * stack_.reduction_step_s;
}

}  // namespace auspex::network
