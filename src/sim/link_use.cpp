/// @file Bytes by pattern, then by link, then by kind.
#include "sim/link_use.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace auspex {
namespace {

/// Bytes that one flow of each pattern moves in a step.
std::map<PatternId, double> bytes_by_pattern(const Program& program, Network& network, const RoutingLoad& load) {
    std::map<PatternId, double> bytes;
    for (const Role& role : program.roles) {
        std::map<std::uint32_t, int> uses;
        for (const BlockUse& use : role.order) {
            ++uses[use.block];
        }
        for (const auto& [block, count] : uses) {
            for (const Operation& op : program.operations_of(program.blocks[block])) {
                if (op.comm == CommKind::kNone || op.comm == CommKind::kReceive || op.group == GroupKind::kWorld) {
                    continue;
                }
                const double scale = op.routed ? load.heaviest_rank : 1;
                for (const TransferPhase& phase :
                     network.unroll(op.comm, op.group, role.stage, op.bytes, scale).phases) {
                    bytes[phase.pattern] += phase.bytes * op.repeat * count;
                }
            }
        }
    }
    return bytes;
}

/// By link: what it carries at most, or, of a pair of groups or switches whose traffic detours, what its direct links
/// do.
std::vector<double> physical_capacities(const Fabric& fabric) {
    std::vector<double> capacities(fabric.capacities_bytes_per_s().begin(), fabric.capacities_bytes_per_s().end());
    for (const DetourLinks& pairs : fabric.detours()) {
        std::fill(capacities.begin() + pairs.first, capacities.begin() + pairs.end, pairs.direct_bytes_per_s);
    }
    return capacities;
}

}  // namespace

std::vector<LinkUse> link_use(const Program& program, Network& network, const RoutingLoad& load, double step_s) {
    const Fabric& fabric = network.fabric();
    std::vector<double> bytes(fabric.link_count(), 0);
    for (const auto& [pattern, each] : bytes_by_pattern(program, network, load)) {
        for (const LinkLoad& on : network.loads(pattern)) {
            bytes[on.link] += on.load * each;
        }
    }
    const std::vector<double> capacities = physical_capacities(fabric);
    std::array<LinkUse, kLinkKinds> by_kind;
    std::array<std::uint32_t, kLinkKinds> busiest{}, used{};
    for (std::uint32_t link = 0; link < bytes.size(); ++link) {
        if (bytes[link] <= 0) {
            continue;
        }
        const auto kind = static_cast<std::size_t>(fabric.kind(link));
        const double share = bytes[link] / (capacities[link] * step_s);
        by_kind[kind].bytes += bytes[link];
        by_kind[kind].mean_share += share;
        ++used[kind];
        if (share > by_kind[kind].busiest_share) {
            by_kind[kind].busiest_share = share;
            busiest[kind] = link;
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

}  // namespace auspex
