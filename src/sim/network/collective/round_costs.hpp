#pragma once
/// @file What the rounds of a collective take beside the bytes on their links: messages, waits, adding up.
#include "models/machine.hpp"
#include "models/stack.hpp"
#include "schedule/program/communication.hpp"
#include "sim/network/collective/collective_rounds.hpp"
#include "sim/network/collective/flow_pattern.hpp"
#include "sim/network/collective/group_set.hpp"
#include "sim/network/fabric/fabric.hpp"

namespace auspex::network {

/// What the software adds to a message: the transport's constants, or those of the first of its message rules that
/// holds.
struct MessageSoftware {
    double in_node_s = 0, between_nodes_s = 0;
    double bytes_per_s = models::kAnySize;  ///< between nodes
    bool pipelined_rings = false, pipelined_trees = false;
    bool in_node_is_ruled = false;  ///< a rule says what messages inside a node cost
};

/// Of a message of so many bytes in a group that lies on `nodes`.
[[nodiscard]] MessageSoftware message_software(const models::Stack& stack, schedule::CommKind comm, int nodes,
                                               double bytes);

class RoundCosts {
 public:
    /// `stack` and `fabric` have to live as long.
    RoundCosts(const models::Machine& machine, const models::Stack& stack, const Fabric& fabric);

    /// All rounds of the step, in a group of this form: the software's part of its messages, wires and
    /// switches. Bytes are those of the step times `scale`. What a pipelined ring hides behind its bytes is what it
    /// hides while nothing else is on its links; of pipelined trees only the levels cost, not the pieces.
    [[nodiscard]] double messages_s(schedule::CommKind comm, const GroupForm& form, const CollectiveStep& step,
                                    double scale, const FlowPattern& pattern) const;
    /// Of one round: adding up what came, with what starts and ends it.
    [[nodiscard]] double reduction_s(const CollectiveStep& step, const FlowPattern& pattern) const;

 private:
    [[nodiscard]] double message_s(const MessageSoftware& software, const CollectiveStep& step, int in_node,
                                   double flow_s, double scale, const FlowPattern& pattern) const;
    [[nodiscard]] double waits_s(const CollectiveStep& step, const FlowPattern& pattern) const;
    [[nodiscard]] double summing_bytes_per_s(const FlowPattern& pattern) const;

    const models::Stack& stack_;
    const Fabric& fabric_;
    double memory_bytes_per_s_;
    double host_bytes_per_s_;  ///< of a socket's memory; 0: NICs hang on the device
    int sockets_;
    double host_copy_latency_s_;
};

}  // namespace auspex::network
