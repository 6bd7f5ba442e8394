/// @file Loads kept once for nodes alike are those of all links, and few values among many links those of a map.
#include "sim/network/sharing/pattern_loads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/rng.hpp"
#include "sim/network/sharing/node_classes.hpp"
#include "sim/network/sharing/sparse_links.hpp"

namespace auspex::network {
namespace {

using ByLink = std::map<std::uint32_t, double>;

constexpr std::uint32_t kNodes = 40, kLinksPerNode = 9, kLinks = kNodes * kLinksPerNode + 200;

ByLink by_link(const PatternLoads& loads) {
    ByLink found;
    for (const LinkLoad& on : loads) {
        found[on.link] += on.load;
    }
    return found;
}

/// Every stride-th node carries `loads`; the first half of the others only the first of them. `between` comes on top.
PatternLoads strided(std::uint32_t stride, const std::vector<LinkLoad>& loads, const std::vector<LinkLoad>& between) {
    PatternLoads made(kLinksPerNode);
    std::map<std::size_t, std::size_t> first_of_length;
    for (std::uint32_t node = 0; node < kNodes; ++node) {
        const std::size_t length = node % stride == 0 ? loads.size() : node < kNodes / 2 ? 1 : 0;
        if (length == 0) {
            continue;
        }
        const auto [first, is_new] = first_of_length.try_emplace(length, made.parts().size());
        if (is_new) {
            made.add(node, LoadList(loads).first(length));
        } else {
            made.repeat(node, first->second);
        }
    }
    if (!between.empty()) {
        made.add(PatternLoads::kBetweenNodes, between);
    }
    return made;
}

TEST(SparseLinks, values_come_out_as_from_a_map_and_are_gone_afterwards) {
    Rng rng(5);
    SparseLinks<double> sparse(kLinks);
    for (int trial = 0; trial < 20; ++trial) {
        ByLink expected, found;
        for (int i = 0; i < 30; ++i) {
            const auto link = static_cast<std::uint32_t>(rng.below(kLinks));
            sparse[link] += i;
            expected[link] += i;
        }
        for (std::uint32_t link = 0; link < kLinks; ++link) {
            EXPECT_EQ(sparse.at(link), expected.count(link) == 0 ? 0 : expected[link]);
        }
        std::uint32_t least = 0;
        sparse.drain([&](std::uint32_t link, double value) {
            EXPECT_GE(link, least);
            least = link + 1;
            found[link] = value;
        });
        EXPECT_EQ(found, expected);
        sparse.drain([](std::uint32_t, double) { FAIL() << "nothing is left"; });
    }
}

TEST(PatternLoads, nodes_alike_are_held_once_and_gone_over_by_rising_link) {
    const std::vector<LinkLoad> loads{{0, 2}, {3, 1}, {8, 0.5}}, between{{kNodes * kLinksPerNode + 7, 4}};
    const PatternLoads pattern = strided(4, loads, between);
    ByLink expected;
    for (std::uint32_t node = 0; node < kNodes; ++node) {
        for (const LinkLoad& on : loads) {
            if (node % 4 == 0 || (node < kNodes / 2 && on.link == 0)) {
                expected[node * kLinksPerNode + on.link] = on.load;
            }
        }
    }
    expected[between.front().link] = between.front().load;
    EXPECT_EQ(by_link(pattern), expected);
    EXPECT_EQ(pattern.size(), expected.size());
    EXPECT_TRUE(std::is_sorted(pattern.begin(), pattern.end(),
                               [](const LinkLoad& a, const LinkLoad& b) { return a.link < b.link; }));
    EXPECT_EQ(pattern.loads(pattern.parts()[0]).data(), pattern.loads(pattern.parts()[4]).data());  // nodes 0 and 4
}

// Every 4th and every 6th node, which makes 2 x 2 kinds of nodes in each half of the job.
TEST(NodeClasses, sums_over_first_nodes_stand_for_the_sums_over_all) {
    const PatternLoads some = strided(4, {{1, 2}, {2, 3}}, {{kNodes * kLinksPerNode, 1}});
    const PatternLoads others = strided(6, {{2, 1}, {5, 1}}, {{kNodes * kLinksPerNode, 2}});
    NodeClasses nodes(kNodes);
    nodes.add(some);
    nodes.add(others);
    nodes.build();
    ByLink expected;
    SparseLinks<double> on_firsts(kLinks);
    std::set<std::uint32_t> firsts;
    for (const PatternLoads* const pattern : {&some, &others}) {
        for (const LinkLoad& on : *pattern) {
            expected[on.link] += on.load;
        }
        nodes.for_each_representative(*pattern, [&](std::uint32_t link, double load) {
            on_firsts[link] += load;
            firsts.insert(std::min(link / kLinksPerNode, kNodes));
        });
    }
    EXPECT_EQ(firsts, (std::set<std::uint32_t>{0, 1, 4, 6, 20, 30, kNodes})) << "kNodes: between nodes";
    EXPECT_EQ(by_link(nodes.expand(on_firsts, kLinksPerNode)), expected);
}

}  // namespace
}  // namespace auspex::network
