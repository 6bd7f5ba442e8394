/// @file Links of the job: one node's inside copied for every node, and switch links between nodes with computed ids.
#include "sim/network/fabric/fabric.hpp"

#include <utility>
#include <variant>

#include "sim/network/fabric/dragonfly_links.hpp"
#include "sim/network/fabric/tree_links.hpp"
#include "sim/network/node/node_paths.hpp"

namespace auspex::network {
namespace {

using SwitchLinks = std::variant<DragonflyLinks, TreeLinks>;

SwitchLinks switch_links(const models::Machine& machine, const models::Stack& stack, const models::Layout& layout,
                         LinkRanges& links) {
    const models::FabricRecipe& recipe = machine.fabric;
    const bool dragonfly = recipe.kind == models::FabricKind::kDragonfly;
    JobBlocks job = job_blocks(layout.node_of_job_node, dragonfly ? recipe.nodes_per_group : recipe.nodes_per_leaf);
    if (dragonfly) {
        return DragonflyLinks(recipe, stack.scale_out_efficiency, std::move(job), links);
    }
    return TreeLinks(machine, stack.scale_out_efficiency, std::move(job), links);
}

}  // namespace

/// Links of the nodes come first, those between switches after them.
struct Fabric::Impl {
    Impl(const models::Machine& machine, const models::Stack& stack, const models::Layout& layout)
        : inside(find_node_paths(machine.node, stack)),
          links(layout.node_of_job_node.size() * inside.slots.size(), machine.file + ": $.fabric"),
          switches(switch_links(machine, stack, layout, links)),
          recipe(machine.fabric),
          tiles(machine.node.tiles),
          nic_latency_s(machine.node.nic_latency_s),
          scale_up_latency_s(machine.node.scale_up_latency_s),
          rank_bytes_per_s(transport_bytes_per_s(machine.node, stack)),
          window_bytes(stack.rank_window_bytes),
          pinned(machine.fabric.kind != models::FabricKind::kDragonfly &&
                 machine.fabric.routing == models::RoutingKind::kMinimal) {
        for (int t = 0; t < tiles; ++t) {
            nic_of.push_back(nic_of_tile(machine.node, t));
        }
    }

    [[nodiscard]] int nic(int tile) const { return nic_of[static_cast<std::size_t>(tile)]; }
    [[nodiscard]] const JobBlocks& job() const {
        return std::visit([](const auto& some) -> const JobBlocks& { return some.job(); }, switches);
    }
    [[nodiscard]] const DragonflyLinks* dragonfly() const { return std::get_if<DragonflyLinks>(&switches); }

    NodePaths inside;
    LinkRanges links;
    SwitchLinks switches;
    models::FabricRecipe recipe;
    int tiles;
    double nic_latency_s, scale_up_latency_s, rank_bytes_per_s, window_bytes;
    bool pinned;
    std::vector<int> nic_of;  ///< [tile]
};

Fabric::Fabric(const models::Machine& machine, const models::Stack& stack, const models::Layout& layout)
    : impl_(std::make_unique<Impl>(machine, stack, layout)) {}
Fabric::~Fabric() = default;
Fabric::Fabric(Fabric&&) noexcept = default;

std::size_t Fabric::link_count() const { return impl_->links.end(); }
double Fabric::capacity_bytes_per_s(std::uint32_t link) const {
    const Impl& f = *impl_;
    return link < f.links.begin() ? f.inside.slots[link % links_per_node()].bytes_per_s : f.links.of(link).bytes_per_s;
}

LinkKind Fabric::kind(std::uint32_t link) const {
    const Impl& f = *impl_;
    return link < f.links.begin() ? f.inside.slots[link % f.inside.slots.size()].kind : f.links.of(link).kind;
}

std::string Fabric::name(std::uint32_t link) const {
    const Impl& f = *impl_;
    if (link < f.links.begin()) {
        const auto slots = static_cast<std::uint32_t>(f.inside.slots.size());
        const NodeSlot& slot = f.inside.slots[link % slots];
        return "node " + std::to_string(link / slots) + ": " + to_string(slot.kind) + ", " + to_string(slot.from) +
               " to " + to_string(slot.to);
    }
    const LinkKind kind = f.links.of(link).kind;
    return std::visit([&](const auto& some) { return some.name(kind, link); }, f.switches);
}

std::uint32_t Fabric::links_per_node() const { return static_cast<std::uint32_t>(impl_->inside.slots.size()); }
std::uint32_t Fabric::first_link(int node) const { return static_cast<std::uint32_t>(node) * links_per_node(); }

std::span<const std::uint32_t> Fabric::slots_between(int from_tile, int to_tile) const {
    return impl_->inside.between[static_cast<std::size_t>(from_tile * impl_->tiles + to_tile)];
}
std::span<const std::uint32_t> Fabric::slots_by_host(int from_tile, int to_tile) const {
    return impl_->inside.by_host[static_cast<std::size_t>(from_tile * impl_->tiles + to_tile)];
}
bool Fabric::has_ways_by_host() const { return !impl_->inside.by_host.empty(); }
std::span<const std::uint32_t> Fabric::slots_out(int tile) const {
    return impl_->inside.out[static_cast<std::size_t>(tile)];
}
std::span<const std::uint32_t> Fabric::slots_in(int tile) const {
    return impl_->inside.in[static_cast<std::size_t>(tile)];
}
std::span<const std::uint32_t> Fabric::slots_to_host(int tile) const {
    return impl_->inside.to_host[static_cast<std::size_t>(tile)];
}
std::span<const std::uint32_t> Fabric::slots_from_host(int tile) const {
    return impl_->inside.from_host[static_cast<std::size_t>(tile)];
}
std::span<const std::uint32_t> Fabric::slots_in_host(int tile) const {
    return impl_->inside.in_host[static_cast<std::size_t>(tile)];
}

void Fabric::route_between_nodes(int from_node, int from_tile, int to_node, int to_tile, InterNodeRoute& route) const {
    const Impl& f = *impl_;
    if (const DragonflyLinks* const dragonfly = f.dragonfly()) {
        dragonfly->route_between(from_node, to_node, route);
    } else {
        std::get<TreeLinks>(f.switches).route_between(from_node, f.nic(from_tile), to_node, f.nic(to_tile), route);
    }
    route.latency_s += f.nic_latency_s;
}

bool Fabric::sums_exchanges() const {
    const DragonflyLinks* const dragonfly = impl_->dragonfly();
    return dragonfly != nullptr && dragonfly->sums_exchanges();
}

void Fabric::route_exchange(std::span<const double> members, bool everywhere, InterNodeRoute& crossings) const {
    impl_->dragonfly()->route_exchange(members, everywhere, crossings);
    crossings.latency_s += impl_->nic_latency_s;
}

int Fabric::attachment(int node, int tile) const {
    const DragonflyLinks* const dragonfly = impl_->dragonfly();
    return dragonfly != nullptr ? dragonfly->attachment(node)
                                : std::get<TreeLinks>(impl_->switches).attachment(node, impl_->nic(tile));
}

bool Fabric::depends_on_attachment_only() const { return !impl_->pinned; }

std::span<const DetourLinks> Fabric::detours() const {
    const DragonflyLinks* const dragonfly = impl_->dragonfly();
    return dragonfly != nullptr ? dragonfly->detours() : std::span<const DetourLinks>();
}

const AlikeBlocks& Fabric::alike_blocks() const {
    static const AlikeBlocks kNone;
    const DragonflyLinks* const dragonfly = impl_->dragonfly();
    return dragonfly != nullptr ? dragonfly->alike_blocks() : kNone;
}

int Fabric::block_count() const { return static_cast<int>(impl_->job().blocks.size()); }

int Fabric::block(int node) const {
    const JobBlocks& job = impl_->job();
    return job.blocks[job.block_of_node[static_cast<std::size_t>(node)]];
}

int Fabric::nodes() const { return static_cast<int>(impl_->job().nodes.size()); }
int Fabric::tiles_per_node() const { return impl_->tiles; }
double Fabric::node_latency_s() const { return impl_->scale_up_latency_s; }

double Fabric::detour_delay_s(DetourLevel level) const {
    const models::FabricRecipe& recipe = impl_->recipe;
    return level == DetourLevel::kGroups ? recipe.detour_delay_s : recipe.local_detour_delay_s;
}
double Fabric::rank_bytes_per_s() const { return impl_->rank_bytes_per_s; }
double Fabric::rank_window_bytes() const { return impl_->window_bytes; }

bool Fabric::routes_as(const Fabric& other) const {
    const Impl &a = *impl_, &b = *other.impl_;
    return a.recipe.kind == b.recipe.kind && a.recipe.routing == b.recipe.routing &&
           a.recipe.groups == b.recipe.groups && a.recipe.nodes_per_group == b.recipe.nodes_per_group &&
           a.recipe.switches_per_group == b.recipe.switches_per_group &&
           a.recipe.global_links == b.recipe.global_links && a.recipe.nodes_per_leaf == b.recipe.nodes_per_leaf &&
           a.recipe.leaves_per_pod == b.recipe.leaves_per_pod && a.links.numbered_as(b.links) &&
           a.inside.routes_as(b.inside) && a.nic_of == b.nic_of && nodes() == other.nodes();
}

Route Fabric::route(int from_rank, int to_rank) const {
    Route route;
    if (from_rank == to_rank) {
        return route;
    }
    const int tiles = impl_->tiles, from_node = from_rank / tiles, to_node = to_rank / tiles;
    const auto append = [&](int node, std::span<const std::uint32_t> slots) {
        for (const std::uint32_t slot : slots) {
            route.legs.push_back({first_link(node) + slot, 1});
        }
    };
    if (from_node == to_node) {
        append(from_node, slots_between(from_rank % tiles, to_rank % tiles));
        route.latency_s = impl_->scale_up_latency_s;
        return route;
    }
    InterNodeRoute crossing;
    route_between_nodes(from_node, from_rank % tiles, to_node, to_rank % tiles, crossing);
    append(from_node, slots_out(from_rank % tiles));
    route.legs.insert(route.legs.end(), crossing.legs.begin(), crossing.legs.end());
    append(to_node, slots_in(to_rank % tiles));
    route.latency_s = crossing.latency_s;
    route.leaves_node = true;
    route.leaves_group = crossing.leaves_group;
    return route;
}

}  // namespace auspex::network
