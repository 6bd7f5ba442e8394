/// @file Links of the job: one node's inside copied for every node, and switch links between nodes with computed ids.
#include "sim/fabric.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "sim/node_paths.hpp"

namespace auspex {
namespace {

/// Most links a fabric may have: fifty times those of the largest machine known; loads are kept in arrays over links.
constexpr std::uint64_t kMostLinks = std::uint64_t{1} << 26;

double minimal_share(const FabricRecipe& recipe) {
    switch (recipe.routing) {
        case RoutingKind::kMinimal: return 1;
        case RoutingKind::kValiant: return 0;
        case RoutingKind::kAdaptive: return recipe.minimal_bias;
    }
    return 1;
}

/// Switches that a packet passes: minimal and by way of a third switch or group.
constexpr double kSwitchesSameSwitch = 1, kSwitchesSameGroup = 2, kSwitchesOtherGroup = 4;
constexpr double kSwitchesDetourInGroup = 3, kSwitchesDetourByGroup = 6;
constexpr double kSwitchesByRoot = 3;

}  // namespace

const char* to_string(LinkKind kind) {
    switch (kind) {
        case LinkKind::kRankTransport: return "rank transport";
        case LinkKind::kPair: return "pair";
        case LinkKind::kMesh: return "mesh";
        case LinkKind::kSwitchPort: return "switch port";
        case LinkKind::kPcieCard: return "PCIe card";
        case LinkKind::kPcieSocket: return "PCIe socket";
        case LinkKind::kNic: return "NIC";
        case LinkKind::kLocal: return "local";
        case LinkKind::kLocalSpread: return "local spread";
        case LinkKind::kGlobal: return "global";
        case LinkKind::kGlobalSpread: return "global spread";
        case LinkKind::kLeafUplink: return "leaf uplink";
    }
    return "unknown";
}

/// Links after those of the nodes come in ranges of one kind. Only groups and leaves that hold nodes of the job are
/// counted, in the order of their numbers; all switches of such a group are.
struct Fabric::Impl {
    struct Range {
        LinkKind kind;
        std::uint32_t first;
        double bytes_per_s;
    };

    Impl(const Machine& machine, const Stack& stack, const Layout& layout)
        : inside(find_node_paths(machine.node, stack)),
          recipe(machine.fabric),
          tiles(machine.node.tiles),
          nic_latency_s(machine.node.nic_latency_s),
          scale_up_latency_s(machine.node.scale_up_latency_s),
          share(minimal_share(machine.fabric)) {
        const bool tree = recipe.kind == FabricKind::kFatTree;
        const int nodes_per_block = tree ? recipe.nodes_per_leaf : recipe.nodes_per_group;
        for (const int node : layout.node_of_job_node) {
            blocks.push_back(node / nodes_per_block);
        }
        std::sort(blocks.begin(), blocks.end());
        blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
        switches = tree ? 1 : static_cast<std::uint32_t>(recipe.switches_per_group);
        place_nodes(layout, nodes_per_block);
        add_ranges(machine, stack, layout.node_of_job_node.size());
        fill_capacities(layout.node_of_job_node.size());
    }

    void place_nodes(const Layout& layout, int nodes_per_block) {
        for (const int node : layout.node_of_job_node) {
            const auto block = std::lower_bound(blocks.begin(), blocks.end(), node / nodes_per_block) - blocks.begin();
            const auto within = static_cast<std::uint64_t>(node % nodes_per_block) * switches /
                                static_cast<std::uint64_t>(nodes_per_block);
            block_of_node.push_back(static_cast<std::uint32_t>(block));
            switch_of_node.push_back(static_cast<std::uint32_t>(block) * switches + static_cast<std::uint32_t>(within));
        }
    }

    void add_ranges(const Machine& machine, const Stack& stack, std::size_t nodes) {
        const double link = recipe.link_bytes_per_s * stack.scale_out_efficiency;
        const std::uint64_t b = blocks.size(), s = switches;
        std::uint64_t next = nodes * inside.slots.size();
        const auto add = [&](LinkKind kind, std::uint64_t count, double bytes_per_s) {
            ranges.push_back({kind, static_cast<std::uint32_t>(next), bytes_per_s});
            next += count;
            if (next > kMostLinks) {
                throw InputError(machine.file + ": $.fabric",
                                 "found " + std::to_string(next) + " links with " + std::to_string(s) +
                                     " switches a group; allowed are " + std::to_string(kMostLinks));
            }
        };
        if (recipe.kind == FabricKind::kFatTree) {
            first_leaf = static_cast<std::uint32_t>(next);
            add(LinkKind::kLeafUplink, 2 * b,
                recipe.nodes_per_leaf * machine.node.nics * machine.node.nic_bytes_per_s * stack.scale_out_efficiency *
                    recipe.taper);
        } else {
            const double global = link * recipe.global_links * (1 - recipe.background_load);
            first_local_spread = static_cast<std::uint32_t>(next);
            add(LinkKind::kLocalSpread, 2 * b * s, link * recipe.local_links * (recipe.switches_per_group - 1));
            first_local = static_cast<std::uint32_t>(next);
            add(LinkKind::kLocal, b * s * s, link * recipe.local_links);
            first_global_spread = static_cast<std::uint32_t>(next);
            add(LinkKind::kGlobalSpread, 2 * b, global * (recipe.groups - 1));
            first_global = static_cast<std::uint32_t>(next);
            add(LinkKind::kGlobal, b * b, global);
        }
        links = static_cast<std::uint32_t>(next);
    }

    void fill_capacities(std::size_t nodes) {
        capacities.reserve(links);
        std::vector<double> of_node;
        for (const NodeSlot& slot : inside.slots) {
            of_node.push_back(slot.bytes_per_s);
        }
        for (std::size_t n = 0; n < nodes; ++n) {
            capacities.insert(capacities.end(), of_node.begin(), of_node.end());
        }
        for (std::size_t r = 0; r < ranges.size(); ++r) {
            capacities.resize(r + 1 < ranges.size() ? ranges[r + 1].first : links, ranges[r].bytes_per_s);
        }
    }

    [[nodiscard]] const Range& range_of(std::uint32_t link) const {
        const auto after = std::upper_bound(ranges.begin(), ranges.end(), link,
                                            [](std::uint32_t id, const Range& range) { return id < range.first; });
        return *std::prev(after);
    }

    NodePaths inside;
    FabricRecipe recipe;
    int tiles;
    double nic_latency_s, scale_up_latency_s, share;
    std::uint32_t switches = 1, links = 0;
    std::vector<int> blocks;                                   ///< machine's groups (or leaves) that the job touches
    std::vector<std::uint32_t> block_of_node, switch_of_node;  ///< indices among those of the job
    std::vector<Range> ranges;
    std::uint32_t first_leaf = 0, first_local_spread = 0, first_local = 0, first_global_spread = 0, first_global = 0;
    std::vector<double> capacities;
};

Fabric::Fabric(const Machine& machine, const Stack& stack, const Layout& layout)
    : impl_(std::make_unique<Impl>(machine, stack, layout)) {}
Fabric::~Fabric() = default;
Fabric::Fabric(Fabric&&) noexcept = default;

std::size_t Fabric::link_count() const { return impl_->links; }
double Fabric::capacity_bytes_per_s(std::uint32_t link) const { return impl_->capacities[link]; }
std::span<const double> Fabric::capacities_bytes_per_s() const { return impl_->capacities; }

LinkKind Fabric::kind(std::uint32_t link) const {
    const auto in_nodes = impl_->ranges.front().first;
    return link < in_nodes ? impl_->inside.slots[link % impl_->inside.slots.size()].kind : impl_->range_of(link).kind;
}

std::string Fabric::name(std::uint32_t link) const {
    const auto in_nodes = impl_->ranges.front().first;
    if (link < in_nodes) {
        const auto slots = static_cast<std::uint32_t>(impl_->inside.slots.size());
        const NodeSlot& slot = impl_->inside.slots[link % slots];
        return "node " + std::to_string(link / slots) + ": " + to_string(slot.kind) + ", " + slot.from + " to " +
               slot.to;
    }
    const Impl::Range& range = impl_->range_of(link);
    const std::uint32_t index = link - range.first, s = impl_->switches,
                        b = static_cast<std::uint32_t>(impl_->blocks.size());
    const auto group = [&](std::uint32_t block) { return std::to_string(impl_->blocks[block]); };
    const auto way = [&] { return index % 2 == 0 ? " out" : " in"; };
    switch (range.kind) {
        case LinkKind::kLocalSpread:
            return "group " + group(index / 2 / s) + ": all local links of switch " + std::to_string(index / 2 % s) +
                   way();
        case LinkKind::kLocal:
            return "group " + group(index / s / s) + ": switch " + std::to_string(index / s % s) + " to " +
                   std::to_string(index % s);
        case LinkKind::kGlobalSpread: return "all global links of group " + group(index / 2) + way();
        case LinkKind::kGlobal: return "group " + group(index / b) + " to group " + group(index % b);
        default: return "leaf " + group(index / 2) + (index % 2 == 0 ? " up" : " down");
    }
}

std::uint32_t Fabric::first_link(int node) const {
    return static_cast<std::uint32_t>(node) * static_cast<std::uint32_t>(impl_->inside.slots.size());
}

std::span<const std::uint32_t> Fabric::slots_between(int from_tile, int to_tile) const {
    return impl_->inside.between[static_cast<std::size_t>(from_tile * impl_->tiles + to_tile)];
}
std::span<const std::uint32_t> Fabric::slots_out(int tile) const {
    return impl_->inside.out[static_cast<std::size_t>(tile)];
}
std::span<const std::uint32_t> Fabric::slots_in(int tile) const {
    return impl_->inside.in[static_cast<std::size_t>(tile)];
}
int Fabric::attachment(int node) const {
    return static_cast<int>(impl_->switch_of_node[static_cast<std::size_t>(node)]);
}
int Fabric::tiles_per_node() const { return impl_->tiles; }
double Fabric::node_latency_s() const { return impl_->scale_up_latency_s; }

/// A share of the flow stays on the minimal path; the rest spreads evenly over all links of its switch and group. The
/// minimal link is one of these, so the whole flow counts against all of them together. Transit through a third group
/// loads that group's side of the same links only in so far as they are the ends' own.
Crossing Fabric::crossing(int from_node, int to_node) const {
    const Impl& f = *impl_;
    const std::uint32_t s = f.switch_of_node[static_cast<std::size_t>(from_node)],
                        t = f.switch_of_node[static_cast<std::size_t>(to_node)];
    const std::uint32_t g = f.block_of_node[static_cast<std::size_t>(from_node)],
                        h = f.block_of_node[static_cast<std::size_t>(to_node)];
    const double minimal = f.share, spread = 1 - f.share;
    Crossing crossing;
    const auto take = [&](std::uint32_t link, double weight) {
        if (weight > 0) {
            crossing.legs[static_cast<std::size_t>(crossing.count++)] = {link, weight};
        }
    };
    double passed = kSwitchesSameSwitch;
    if (g != h && f.recipe.kind == FabricKind::kFatTree) {
        take(f.first_leaf + 2 * g, 1);
        take(f.first_leaf + 2 * h + 1, 1);
        passed = kSwitchesByRoot;
    } else if (g != h) {
        const auto groups = static_cast<std::uint32_t>(f.blocks.size());
        take(f.first_local_spread + 2 * s, 1);
        take(f.first_global + g * groups + h, minimal);
        take(f.first_global_spread + 2 * g, 1);
        take(f.first_global_spread + 2 * h + 1, 1);
        take(f.first_local_spread + 2 * t + 1, 1);
        passed = minimal * kSwitchesOtherGroup + spread * kSwitchesDetourByGroup;
    } else if (s != t) {
        take(f.first_local + s * f.switches + t % f.switches, minimal);
        take(f.first_local_spread + 2 * s, 1);
        take(f.first_local_spread + 2 * t + 1, 1);
        passed = minimal * kSwitchesSameGroup + spread * kSwitchesDetourInGroup;
    }
    crossing.latency_s = f.nic_latency_s + passed * f.recipe.switch_latency_s;
    crossing.leaves_group = g != h;
    return crossing;
}

Route Fabric::route(int from_rank, int to_rank) const {
    Route route;
    if (from_rank == to_rank) {
        return route;
    }
    route.legs.reserve(16);
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
    const Crossing across = crossing(from_node, to_node);
    append(from_node, slots_out(from_rank % tiles));
    route.legs.insert(route.legs.end(), across.legs.begin(), across.legs.begin() + across.count);
    append(to_node, slots_in(to_rank % tiles));
    route.latency_s = across.latency_s;
    route.leaves_node = true;
    route.leaves_group = across.leaves_group;
    return route;
}

}  // namespace auspex
