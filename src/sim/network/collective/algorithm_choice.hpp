#pragma once
/// @file Which algorithm a collective runs by, and over how many levels.
#include <optional>
#include <span>
#include <vector>

#include "models/stack.hpp"
#include "schedule/program/communication.hpp"
#include "sim/network/collective/group_set.hpp"

namespace auspex::network {

/// Which algorithm, over how many levels (AlgorithmRule).
struct AlgorithmChoice {
    models::CollectiveAlgorithm algorithm = models::CollectiveAlgorithm::kAuto;
    int levels = 1;
    auto operator<=>(const AlgorithmChoice&) const = default;
};

/// The algorithms that a kind can be played with; the first is what the others give way to.
[[nodiscard]] std::span<const models::CollectiveAlgorithm> algorithms_of(schedule::CommKind comm);

/// Choices worth trying for kAuto; `levels` 0: any, else that number.
[[nodiscard]] std::vector<AlgorithmChoice> candidates(schedule::CommKind comm, const GroupForm& form, int levels);

/// The choice of the first rule within whose limits the group and its bytes are; {kAuto, 0} without one.
[[nodiscard]] AlgorithmChoice choice_by_rule(std::span<const models::AlgorithmRule> rules, double bytes,
                                             const GroupForm& form);

/// The collective whose rules hold; none for sends and barriers.
[[nodiscard]] std::optional<models::Collective> collective_of(schedule::CommKind comm);
/// The stack's rules for a kind; none for what is no collective, and for barriers.
[[nodiscard]] std::span<const models::AlgorithmRule> collective_rules(const models::Stack& stack,
                                                                      schedule::CommKind comm);

/// What is played of a choice: levels with one member fall away, and with them the algorithm if it was to run there;
/// levels that are uneven, too; what cannot run gives way to the first of algorithms_of.
[[nodiscard]] AlgorithmChoice played(schedule::CommKind comm, AlgorithmChoice choice, const GroupForm& form);

}  // namespace auspex::network
