#pragma once
/// @file How much of its capacity each kind of link carries over a step.
#include <vector>

#include "sim/network/use/link_use.hpp"

namespace auspex::schedule {
struct Program;
}

namespace auspex::engine {

struct OperationCosts;
using network::LinkUse;

/// Bytes of all communications of one step, those of detours and of split flows where they pass; the most crowded kind
/// first. Kinds that carry nothing are left out; so are world operations (a few bytes a step). Requires costs of
/// Grain::kStages.
[[nodiscard]] std::vector<LinkUse> link_use(const schedule::Program& program, const OperationCosts& costs,
                                            const network::Network& network, double step_s);

}  // namespace auspex::engine
