/// @file Max-min fair rates: by hand, by certificate, and by symmetry.
#include "sim/max_min.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "sim/flow_fold.hpp"

namespace auspex {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Problem {
    std::vector<double> capacities;
    std::vector<FlowClass> classes;
};

/// Up to 12 links of capacity 1 .. 10 and 24 classes on 1 .. 4 links with weights in quarters: ties are common.
Problem random_problem(Rng& rng) {
    Problem problem;
    const std::size_t links = 1 + rng.below(12), classes = 1 + rng.below(24);
    for (std::size_t l = 0; l < links; ++l) {
        problem.capacities.push_back(1 + static_cast<double>(rng.below(10)));
    }
    for (std::size_t c = 0; c < classes; ++c) {
        FlowClass flows;
        const std::size_t first = rng.below(links), count = 1 + rng.below(std::min<std::size_t>(4, links));
        for (std::size_t i = 0; i < count; ++i) {
            flows.links.push_back(static_cast<std::uint32_t>((first + i) % links));
            flows.weights.push_back(0.25 * static_cast<double>(1 + rng.below(8)));
        }
        problem.classes.push_back(flows);
    }
    return problem;
}

/// rates are max-min fair <=> no link is over capacity, and each class has a full link on which no class is faster.
void expect_certificate(const Problem& problem, const std::vector<double>& rates) {
    std::vector<double> load(problem.capacities.size(), 0), fastest(problem.capacities.size(), 0);
    for (std::size_t c = 0; c < rates.size(); ++c) {
        for (std::size_t i = 0; i < problem.classes[c].links.size(); ++i) {
            const std::uint32_t link = problem.classes[c].links[i];
            load[link] += problem.classes[c].weights[i] * rates[c];
            fastest[link] = std::max(fastest[link], rates[c]);
        }
    }
    for (std::size_t l = 0; l < load.size(); ++l) {
        EXPECT_LE(load[l], problem.capacities[l] * (1 + 1e-10));
    }
    for (std::size_t c = 0; c < rates.size(); ++c) {
        const bool has_bottleneck =
            std::any_of(problem.classes[c].links.begin(), problem.classes[c].links.end(), [&](std::uint32_t link) {
                return load[link] >= problem.capacities[link] * (1 - 1e-10) && rates[c] >= fastest[link] * (1 - 1e-10);
            });
        EXPECT_TRUE(has_bottleneck) << "class " << c << " could be faster";
    }
}

// Links A = 10, B = 4; flows 1: A, 2: A and B, 3: B. B fills at 2 each, then flow 1 gets the rest of A: 8.
TEST(MaxMin, the_textbook_line_network) {
    const std::vector<double> capacities{10, 4};
    const std::vector<FlowClass> classes{{{0}, {1}}, {{0, 1}, {1, 1}}, {{1}, {1}}};
    const std::vector<double> rates = max_min_rates(capacities, classes);
    EXPECT_DOUBLE_EQ(rates[0], 8);
    EXPECT_DOUBLE_EQ(rates[1], 2);
    EXPECT_DOUBLE_EQ(rates[2], 2);
}

// Weight 1/2: the flow puts half of its rate on the link. 10 = r + r / 2.
TEST(MaxMin, a_split_flow_loads_a_link_by_its_share) {
    const std::vector<double> rates =
        max_min_rates(std::vector<double>{10}, std::vector<FlowClass>{{{0}, {1}}, {{0}, {0.5}}});
    EXPECT_DOUBLE_EQ(rates[0], 10 / 1.5);
    EXPECT_DOUBLE_EQ(rates[1], 10 / 1.5);
}

TEST(MaxMin, without_links_a_class_is_unbounded) {
    const std::vector<double> rates =
        max_min_rates(std::vector<double>{3}, std::vector<FlowClass>{{}, {{0}, {0}}, {{0}, {2}}});
    EXPECT_EQ(rates[0], kInfinity);
    EXPECT_EQ(rates[1], kInfinity);
    EXPECT_DOUBLE_EQ(rates[2], 1.5);
}

TEST(MaxMin, a_dead_link_stops_its_flows_only) {
    const std::vector<double> rates =
        max_min_rates(std::vector<double>{0, 6}, std::vector<FlowClass>{{{0, 1}, {1, 1}}, {{1}, {1}}});
    EXPECT_EQ(rates[0], 0);
    EXPECT_DOUBLE_EQ(rates[1], 6);
}

TEST(MaxMin, random_networks_carry_the_certificate) {
    Rng rng(7);
    for (int trial = 0; trial < 500; ++trial) {
        const Problem problem = random_problem(rng);
        expect_certificate(problem, max_min_rates(problem.capacities, problem.classes));
    }
}

TEST(MaxMin, the_order_of_classes_does_not_matter) {
    Rng rng(11);
    for (int trial = 0; trial < 200; ++trial) {
        Problem problem = random_problem(rng);
        const std::vector<double> rates = max_min_rates(problem.capacities, problem.classes);
        std::vector<std::size_t> order(problem.classes.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = i;
            std::swap(order[i], order[rng.below(i + 1)]);
        }
        std::vector<FlowClass> shuffled;
        for (const std::size_t i : order) {
            shuffled.push_back(problem.classes[i]);
        }
        const std::vector<double> again = max_min_rates(problem.capacities, shuffled);
        for (std::size_t i = 0; i < order.size(); ++i) {
            EXPECT_NEAR(again[i], rates[order[i]], 1e-10 * rates[order[i]]);
        }
    }
}

/// Sorted rates, compared from the smallest: more capacity may slow one flow down, but never this order.
TEST(MaxMin, more_capacity_never_lowers_the_slowest_rate) {
    Rng rng(13);
    for (int trial = 0; trial < 200; ++trial) {
        Problem problem = random_problem(rng);
        const std::vector<double> before = max_min_rates(problem.capacities, problem.classes);
        problem.capacities[rng.below(problem.capacities.size())] *= 2;
        const std::vector<double> after = max_min_rates(problem.capacities, problem.classes);
        EXPECT_GE(*std::min_element(after.begin(), after.end()),
                  *std::min_element(before.begin(), before.end()) * (1 - 1e-12));
    }
}

/// Flows on a random symmetric network: every flow of the problem exists `copies` times on its own copy of the links,
/// except link 0, which all copies share with copies x capacity. Folding must find the copies, and the rates must be
/// those of the flows one by one.
TEST(MaxMin, classes_of_equal_flows_have_the_rates_of_the_flows) {
    Rng rng(17);
    constexpr std::uint32_t kCopies = 5;
    for (int trial = 0; trial < 200; ++trial) {
        const Problem problem = random_problem(rng);
        const auto links = static_cast<std::uint32_t>(problem.capacities.size());
        std::vector<double> capacities(links * kCopies);
        FlowSet flows;
        std::vector<FlowClass> one_by_one;
        for (std::uint32_t copy = 0; copy < kCopies; ++copy) {
            for (std::uint32_t l = 0; l < links; ++l) {
                capacities[copy * links + l] = problem.capacities[l] * (l == 0 ? kCopies : 1);
            }
            for (const FlowClass& flow : problem.classes) {
                FlowClass single;
                for (std::size_t i = 0; i < flow.links.size(); ++i) {
                    const std::uint32_t link = flow.links[i] == 0 ? 0 : copy * links + flow.links[i];
                    flows.legs.push_back({link, flow.weights[i]});
                    single.links.push_back(link);
                    single.weights.push_back(flow.weights[i]);
                }
                flows.begin.push_back(static_cast<std::uint32_t>(flows.legs.size()));
                flows.owner.push_back(0);
                one_by_one.push_back(single);
            }
        }
        const FoldedFlows folded = fold(flows, capacities);
        EXPECT_LE(folded.classes.size(), problem.classes.size());
        const std::vector<double> by_class = max_min_rates(folded.capacities, folded.classes);
        const std::vector<double> by_flow = max_min_rates(capacities, one_by_one);
        for (std::size_t f = 0; f < by_flow.size(); ++f) {
            EXPECT_NEAR(by_class[folded.class_of_flow[f]], by_flow[f], 1e-10 * by_flow[f]);
        }
    }
}

}  // namespace
}  // namespace auspex
