#pragma once
/// @file How a dragonfly is wired: the switch of a node, and the switches at the ends of a link between groups.
#include <cstdint>

#include "models/machine.hpp"

namespace auspex::network {

/// Switch, within its group, of node `node` of the group: nodes are dealt over the switches in order.
[[nodiscard]] std::uint32_t dragonfly_switch(const models::FabricRecipe& recipe, int node);

/// Switch of `group` that holds link `parallel` of those to `other`. The links of a group are counted by the distance
/// to the other group, then by parallel link, and dealt over its switches in that order, equally many or one more on
/// each:
///   port = ((other - group) mod groups - 1) * global_links + parallel
///   switch = floor(port * switches_per_group / ((groups - 1) * global_links))
/// Requires: other != group. The real cabling of a machine is not public; only the count on each switch matters here.
[[nodiscard]] std::uint32_t dragonfly_gateway(const models::FabricRecipe& recipe, int group, int other, int parallel);

}  // namespace auspex::network
