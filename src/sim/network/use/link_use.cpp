/// @file Bytes by pattern, then by link, then by kind.
#include "sim/network/use/link_use.hpp"

#include <algorithm>
#include <unordered_map>

#include "sim/network/sharing/node_classes.hpp"
#include "sim/network/sharing/sparse_links.hpp"

namespace auspex::network {
namespace {

/// What a link carries at most, or, of a pair of groups or switches whose traffic detours, what its direct links do.
double physical_capacity(const Fabric& fabric, std::uint32_t link) {
    for (const DetourLinks& pairs : fabric.detours()) {
        if (link >= pairs.first && link < pairs.end) {
            return pairs.direct_bytes_per_s;
        }
    }
    return fabric.capacity_bytes_per_s(link);
}

/// The sum of patterns, each times its bytes; of the first block where it stands for all.
struct BytesOnLinks {
    BytesOnLinks(const BytesByPattern& bytes, const Network& network)
        : even(loads_of(bytes, network), network.fabric().nodes()) {
        const NodeClasses nodes(even);
        SparseLinks<double> on_firsts(network.fabric().link_count());
        std::size_t index = 0;
        for (const auto& [pattern, each] : bytes) {
            nodes.for_each_representative(
                even[index++], [&, moved = each](std::uint32_t link, double load) { on_firsts[link] += load * moved; });
        }
        loads = nodes.expand(on_firsts, network.fabric().links_per_node());
    }
    static std::vector<const PatternLoads*> loads_of(const BytesByPattern& bytes, const Network& network) {
        std::vector<const PatternLoads*> found;
        for (const auto& [pattern, each] : bytes) {
            found.push_back(&network.loads(pattern));
        }
        return found;
    }
    /// How many links carry what this one does, itself among them.
    [[nodiscard]] std::uint32_t alike(const PatternLoads::Part& part, std::uint32_t link) const {
        const AlikeBlocks* const blocks = even.alike_blocks();
        const bool is_one_of_many =
            blocks != nullptr && (part.node != PatternLoads::kBetweenNodes || blocks->links_with(link) != nullptr);
        return is_one_of_many ? static_cast<std::uint32_t>(blocks->blocks) : 1;
    }

    EvenLoads even;
    PatternLoads loads;
};

struct UsedLink {
    std::uint32_t link;  ///< of a node by slot
    std::size_t kind;
    double bytes, share;
    std::uint32_t alike;  ///< links, itself among them
};

std::vector<UsedLink> used_links(const BytesOnLinks& bytes, const PatternLoads::Part& part, const Fabric& fabric,
                                 double step_s) {
    std::vector<UsedLink> used;
    const std::uint32_t first = bytes.loads.first_link(part);
    for (const LinkLoad& on : bytes.loads.loads(part)) {
        const std::uint32_t link = first + on.link;
        if (on.load > 0) {
            used.push_back({on.link, static_cast<std::size_t>(fabric.kind(link)), on.load,
                            on.load / (physical_capacity(fabric, link) * step_s), bytes.alike(part, link)});
        }
    }
    return used;
}

}  // namespace

std::array<double, kLinkKinds> load_by_kind(PatternId pattern, const Network& network) {
    const BytesOnLinks bytes({{pattern, 1.0}}, network);
    std::array<double, kLinkKinds> loads{};
    for (const PatternLoads::Part& part : bytes.loads.parts()) {
        const std::uint32_t first = bytes.loads.first_link(part);
        for (const LinkLoad& on : bytes.loads.loads(part)) {
            const std::uint32_t link = first + on.link;
            loads[static_cast<std::size_t>(network.fabric().kind(link))] += on.load * bytes.alike(part, link);
        }
    }
    return loads;
}

std::vector<LinkUse> link_use(const BytesByPattern& moved, const Network& network, double step_s) {
    const Fabric& fabric = network.fabric();
    const BytesOnLinks bytes(moved, network);
    std::array<LinkUse, kLinkKinds> by_kind;
    std::array<std::uint32_t, kLinkKinds> busiest{}, used{};
    std::unordered_map<std::uint32_t, std::vector<UsedLink>> known;  // by begin of a part: nodes alike share it
    for (const PatternLoads::Part& part : bytes.loads.parts()) {
        const std::uint32_t first = bytes.loads.first_link(part);
        const auto [links, is_new] = known.try_emplace(part.begin);
        if (is_new) {
            links->second = used_links(bytes, part, fabric, step_s);
        }
        for (const UsedLink& link : links->second) {
            by_kind[link.kind].bytes += link.bytes * link.alike;
            by_kind[link.kind].mean_share += link.share * link.alike;
            used[link.kind] += link.alike;
            if (link.share > by_kind[link.kind].busiest_share) {
                by_kind[link.kind].busiest_share = link.share;
                busiest[link.kind] = first + link.link;
            }
        }
    }
    std::vector<LinkUse> found;
    for (std::size_t kind = 0; kind < kLinkKinds; ++kind) {
        if (used[kind] > 0) {
            by_kind[kind].kind = to_string(static_cast<LinkKind>(kind));
            by_kind[kind].between_nodes = static_cast<LinkKind>(kind) >= LinkKind::kLocal;
            by_kind[kind].busiest = fabric.name(busiest[kind]);
            by_kind[kind].mean_share /= used[kind];
            found.push_back(std::move(by_kind[kind]));
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const LinkUse& a, const LinkUse& b) { return a.busiest_share > b.busiest_share; });
    return found;
}

}  // namespace auspex::network
