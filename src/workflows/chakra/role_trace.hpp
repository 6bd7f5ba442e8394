#pragma once
/// @file What a rank of a pipeline stage does, as nodes of a Chakra trace.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "interop/chakra/chakra_node.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::workflows {

/// Process groups by name: numbers from "1" on for the groups of each kind in each stage, "0" for all ranks.
class ProcessGroups {
 public:
    explicit ProcessGroups(const predict::SimulatedStep& step);
    /// The group of this kind that rank `n` of a stage is in.
    [[nodiscard]] const std::string& name_of(models::GroupKind kind, int stage, int n) const;
    [[nodiscard]] int size_of(models::GroupKind kind) const { return group_size(layout_, kind); }
    [[nodiscard]] const std::map<std::string, std::vector<int>>& ranks() const { return ranks_; }
    /// Of the message that crosses a boundary between virtual stages.
    [[nodiscard]] double message_bytes(bool backward, int boundary) const {
        return message_bytes_.at({backward, boundary});
    }
    /// Of what a stage sends in an exchange.
    [[nodiscard]] double exchanged_bytes(schedule::OpKind kind, int stage) const {
        return exchanged_bytes_.at({kind, stage});
    }

 private:
    const models::Layout& layout_;
    std::map<std::string, std::vector<int>> ranks_;
    std::map<std::pair<models::GroupKind, int>, std::vector<std::string>> names_;  ///< by kind and stage: of each n
    std::map<std::pair<bool, int>, double> message_bytes_;
    std::map<std::pair<schedule::OpKind, int>, double> exchanged_bytes_;
    std::string world_ = "0";
};

/// All-reduces take the place of barriers, which ASTRA-sim does not know: one number of four bytes.
inline constexpr double kBarrierBytes = 4;

/// Visits the nodes of rank `n` of a stage in the order of its program; ids from 1 on. What runs on a stream follows,
/// by ctrl_deps, what ran on it before, and what it joins; data_deps are the program's dependencies. A communication
/// that is done several times in succession is as many nodes; what two stages exchange, a send and a receive on each.
/// Of a program in which communications run beside compute, collectives also wait for the one before them
/// (ChakraNode::order_dep): a reader that has one at a time on each rank would else take them in different orders and
/// wait forever. Durations are whole microseconds; what is cut off is added to the next one.
void visit_role(const predict::SimulatedStep& step, const ProcessGroups& groups, int stage, int n,
                const std::function<void(const interop::ChakraNode&)>& visit);

}  // namespace auspex::workflows
