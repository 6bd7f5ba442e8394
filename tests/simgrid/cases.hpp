#pragma once
/// @file What both simulators play: small machines built by hand, and collectives on them.
#include <string>
#include <vector>

#include "models/layout.hpp"
#include "models/machine.hpp"
#include "schedule/program/communication.hpp"
#include "sim/network/collective/collective_phases.hpp"

namespace auspex::simgrid_check {

using namespace models;
using namespace network;
using namespace schedule;

/// A collective of all sibling groups of a kind in a stage. `choice` names an algorithm.
struct Collective {
    CommKind comm = CommKind::kAllReduce;
    AlgorithmChoice choice;
    GroupKind group = GroupKind::kWorld;
    int stage = 0;
    double bytes = 0;  ///< of a rank, as communication.hpp defines them
    std::string what;  ///< for people
};

struct Case {
    std::string name;  ///< one word: for --case
    std::string network;
    Machine machine;
    Layout layout;
    std::vector<Collective> collectives;  ///< all begin at time 0
    bool is_quick = false;                ///< part of the test suite
    std::string note;                     ///< why the two differ, where they do
};

[[nodiscard]] std::vector<Case> all_cases();

/// Wires alone: no efficiencies below 1, no cost of messages, launches or additions, no limit on a rank's transport.
[[nodiscard]] Stack bare_stack();

}  // namespace auspex::simgrid_check
