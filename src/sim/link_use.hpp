#pragma once
/// @file How much of its capacity each kind of link carries over a step: who is crowded, and who idles.
#include <vector>

#include "models/routing.hpp"
#include "schedule/program.hpp"
#include "sim/network.hpp"
#include "sim/prediction.hpp"

namespace auspex {

/// Bytes of all communications of one step, those of detours and of split flows where they pass; the most crowded kind
/// first. Kinds that carry nothing are left out; so are world operations (a few bytes a step).
[[nodiscard]] std::vector<LinkUse> link_use(const Program& program, Network& network, const RoutingLoad& load,
                                            double step_s);

}  // namespace auspex
