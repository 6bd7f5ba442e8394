/// @file What a pattern of flows puts on links, against its flows one by one.
#include "sim/network/collective/flow_pattern.hpp"

#include <gtest/gtest.h>

#include "network_cases.hpp"

namespace auspex::network {
namespace {

using testing_network::Case;
using testing_network::cases;
using testing_network::plain_stack;

constexpr StepShape kShapes[] = {StepShape::kShift,    StepShape::kXor,  StepShape::kFoldIn,   StepShape::kFoldOut,
                                 StepShape::kAllPairs, StepShape::kTree, StepShape::kRootToAll};

/// Detours load it, too, which no route by itself knows.
bool is_pool(LinkKind kind) { return kind == LinkKind::kLocalPool || kind == LinkKind::kGlobalPool; }

/// Loads of one round of the groups, route by route.
std::map<std::uint32_t, double> loads_route_by_route(const Fabric& fabric, const PatternKey& key,
                                                     const GroupSet& groups) {
    std::map<std::uint32_t, double> loads;
    for (std::size_t g = 0; g < groups.count(); ++g) {
        const std::span<const int> group = groups.group(g);
        for_each_pair(key.shape, key.distance, static_cast<int>(group.size()), [&](int i, int j) {
            for (const Leg& leg :
                 fabric.route(group[static_cast<std::size_t>(i)], group[static_cast<std::size_t>(j)]).legs) {
                loads[leg.link] += leg.weight;
            }
        });
    }
    return loads;
}

// Loads of the builder (templates of nodes, counts of all pairs) = sums over the routes of all flows; its rate is the
// least capacity / load. The pools also carry what detours.
TEST(Network, a_pattern_equals_the_sum_of_its_flows) {
    for (const Case& on : cases()) {
        const Fabric fabric(on.machine, plain_stack(), on.layout);
        PatternBuilder builder(fabric);
        for (const models::GroupKind group :
             {models::GroupKind::kEp, models::GroupKind::kExpertDp, models::GroupKind::kStage}) {
            const GroupSet whole = flatten(groups_of(on.layout, group, 0));
            for (const Level level : {Level::kFlat, Level::kIntraNode}) {
                const GroupSet groups = subgroups(whole, level, fabric);
                for (const StepShape shape : kShapes) {
                    const PatternKey key{group, 0, level, shape, 1};
                    const FlowPattern pattern = builder.build(key, groups, {});
                    const std::map<std::uint32_t, double> loads = loads_route_by_route(fabric, key, groups);
                    ASSERT_EQ(pattern.loads.size(), loads.size())
                        << "group " << static_cast<int>(group) << " level " << static_cast<int>(level) << " shape "
                        << static_cast<int>(shape);
                    double rate = std::numeric_limits<double>::infinity();
                    for (const LinkLoad& on_link : pattern.loads) {
                        if (!is_pool(fabric.kind(on_link.link))) {
                            EXPECT_NEAR(on_link.load, loads.at(on_link.link), 1e-9 * on_link.load);
                        }
                        rate = std::min(rate, fabric.capacity_bytes_per_s(on_link.link) / on_link.load);
                    }
                    EXPECT_DOUBLE_EQ(pattern.solo_rate, rate);
                }
            }
        }
    }
}

// What leaves nodes enters nodes: every flow between nodes loads one NIC out and one in, and so for transports.
TEST(Network, as_much_comes_in_as_goes_out) {
    for (const Case& on : cases()) {
        const Fabric fabric(on.machine, plain_stack(), on.layout);
        PatternBuilder builder(fabric);
        const int tiles = fabric.tiles_per_node();
        for (const models::GroupKind kind : {models::GroupKind::kExpertDp, models::GroupKind::kStage}) {
            const GroupSet groups = flatten(groups_of(on.layout, kind, 0));
            for (const StepShape shape : kShapes) {
                double between_nodes = 0;
                for (std::size_t g = 0; g < groups.count(); ++g) {
                    const std::span<const int> group = groups.group(g);
                    for_each_pair(shape, 1, static_cast<int>(group.size()), [&](int i, int j) {
                        const int from = group[static_cast<std::size_t>(i)], to = group[static_cast<std::size_t>(j)];
                        between_nodes += from / tiles != to / tiles ? 1 : 0;
                    });
                }
                std::map<LinkKind, double> by_kind;
                for (const LinkLoad& load : builder.build({kind, 0, Level::kFlat, shape, 1}, groups, {}).loads) {
                    by_kind[fabric.kind(load.link)] += load.load;
                }
                EXPECT_DOUBLE_EQ(by_kind[LinkKind::kNic], 2 * between_nodes);
                EXPECT_DOUBLE_EQ(by_kind[LinkKind::kRankTransport], 2 * between_nodes);
            }
        }
    }
}

// Share of place j in a group of n: (j + 1) / mean. A flow i -> j weighs the share of j, whatever adds the flows up.
TEST(Network, an_uneven_exchange_loads_links_by_the_share_of_the_receiver) {
    for (const Case& on : cases()) {
        const Fabric fabric(on.machine, plain_stack(), on.layout);
        PatternBuilder builder(fabric);
        const GroupSet groups = flatten(groups_of(on.layout, models::GroupKind::kStage, 0));
        const std::size_t n = groups.group(0).size();
        std::vector<double> shares;
        for (std::size_t j = 0; j < n; ++j) {
            shares.push_back(2 * static_cast<double>(j + 1) / static_cast<double>(n + 1));
        }
        const PatternKey key{models::GroupKind::kStage, 0, Level::kFlat, StepShape::kAllPairs, 0, kAllSiblings, true};
        const FlowPattern pattern = builder.build(key, groups, shares);
        std::map<std::uint32_t, double> loads;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                for (const Leg& leg : fabric.route(groups.group(0)[i], groups.group(0)[j]).legs) {
                    loads[leg.link] += leg.weight * shares[j];
                }
            }
        }
        ASSERT_EQ(pattern.loads.size(), loads.size());
        for (const LinkLoad& on_link : pattern.loads) {
            if (!is_pool(fabric.kind(on_link.link))) {
                EXPECT_NEAR(on_link.load, loads.at(on_link.link), 1e-9 * on_link.load) << fabric.name(on_link.link);
            }
        }
    }
}

}  // namespace
}  // namespace auspex::network
