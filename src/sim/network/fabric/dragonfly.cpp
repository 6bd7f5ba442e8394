/// @file Computed wiring of a dragonfly.
#include "sim/network/fabric/dragonfly.hpp"

namespace auspex::network {

std::uint32_t dragonfly_switch(const models::FabricRecipe& recipe, int node) {
    return static_cast<std::uint32_t>(std::int64_t{node} * recipe.switches_per_group / recipe.nodes_per_group);
}

std::uint32_t dragonfly_gateway(const models::FabricRecipe& recipe, int group, int other, int parallel) {
    const std::int64_t distance = (other - group + recipe.groups) % recipe.groups;
    const std::int64_t port = (distance - 1) * recipe.global_links + parallel;
    const std::int64_t ports = std::int64_t{recipe.groups - 1} * recipe.global_links;
    return static_cast<std::uint32_t>(port * recipe.switches_per_group / ports);
}

}  // namespace auspex::network
