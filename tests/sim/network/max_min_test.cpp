/// @file Max-min fair rates: by hand, by certificate, and by symmetry.
#include "sim/network/sharing/max_min.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.hpp"

namespace auspex::network {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Loads = std::vector<LinkLoad>;

struct Problem {
    std::vector<double> capacities;
    std::vector<Loads> classes;
};

std::vector<double> solve(const std::vector<double>& capacities, const std::vector<Loads>& classes) {
    return max_min_rates(capacities, std::vector<LoadList>(classes.begin(), classes.end()));
}

/// Up to 12 links of capacity 1 .. 10 and 24 classes on 1 .. 4 links with whole loads of 1 .. 8: ties are common.
Problem random_problem(Rng& rng) {
    Problem problem;
    const std::size_t links = 1 + rng.below(12), classes = 1 + rng.below(24);
    for (std::size_t l = 0; l < links; ++l) {
        problem.capacities.push_back(1 + static_cast<double>(rng.below(10)));
    }
    for (std::size_t c = 0; c < classes; ++c) {
        Loads flows;
        const std::size_t first = rng.below(links), count = 1 + rng.below(std::min<std::size_t>(4, links));
        for (std::size_t i = 0; i < count; ++i) {
            flows.push_back({static_cast<std::uint32_t>((first + i) % links), static_cast<double>(1 + rng.below(8))});
        }
        problem.classes.push_back(flows);
    }
    return problem;
}

/// rates are max-min fair <=> no link is over capacity, and each class has a full link on which no class is faster.
void expect_certificate(const Problem& problem, const std::vector<double>& rates) {
    std::vector<double> load(problem.capacities.size(), 0), fastest(problem.capacities.size(), 0);
    for (std::size_t c = 0; c < rates.size(); ++c) {
        for (const LinkLoad& on : problem.classes[c]) {
            load[on.link] += on.load * rates[c];
            fastest[on.link] = std::max(fastest[on.link], rates[c]);
        }
    }
    for (std::size_t l = 0; l < load.size(); ++l) {
        EXPECT_LE(load[l], problem.capacities[l] * (1 + 1e-10));
    }
    for (std::size_t c = 0; c < rates.size(); ++c) {
        const bool has_bottleneck =
            std::any_of(problem.classes[c].begin(), problem.classes[c].end(), [&](const LinkLoad& on) {
                return load[on.link] >= problem.capacities[on.link] * (1 - 1e-10) &&
                       rates[c] >= fastest[on.link] * (1 - 1e-10);
            });
        EXPECT_TRUE(has_bottleneck) << "class " << c << " could be faster";
    }
}

// Links A = 10, B = 4; flows 1: A, 2: A and B, 3: B. B fills at 2 each, then flow 1 gets the rest of A: 8.
TEST(MaxMin, the_textbook_line_network) {
    EXPECT_EQ(solve({10, 4}, {{{0, 1}}, {{0, 1}, {1, 1}}, {{1, 1}}}), (std::vector<double>{8, 2, 2}));
}

// Half of the second flow takes the link: 10 = r + r / 2.
TEST(MaxMin, a_split_flow_loads_a_link_by_its_share) {
    const std::vector<double> rates = solve({10}, {{{0, 1}}, {{0, 0.5}}});
    EXPECT_DOUBLE_EQ(rates[0], 10 / 1.5);
    EXPECT_DOUBLE_EQ(rates[1], 10 / 1.5);
}

// A class of flows that advance together is held back as a whole by its fullest link: r = 4 / 3 on B, and A keeps
// 10 - 2 r for the other.
TEST(MaxMin, the_flows_of_a_class_advance_at_the_rate_of_the_slowest) {
    const std::vector<double> rates = solve({10, 4}, {{{0, 2}, {1, 3}}, {{0, 1}}});
    EXPECT_DOUBLE_EQ(rates[0], 4.0 / 3);
    EXPECT_DOUBLE_EQ(rates[1], 10 - 2 * (4.0 / 3));
}

TEST(MaxMin, without_links_a_class_is_unbounded) {
    EXPECT_EQ(solve({3}, {{}, {{0, 2}}}), (std::vector<double>{kInfinity, 1.5}));
}

TEST(MaxMin, a_dead_link_stops_its_flows_only) {
    EXPECT_EQ(solve({0, 6}, {{{0, 1}, {1, 1}}, {{1, 1}}}), (std::vector<double>{0, 6}));
}

TEST(MaxMin, random_networks_carry_the_certificate) {
    Rng rng(7);
    for (int trial = 0; trial < 500; ++trial) {
        const Problem problem = random_problem(rng);
        expect_certificate(problem, solve(problem.capacities, problem.classes));
    }
}

TEST(MaxMin, the_order_of_classes_does_not_matter) {
    Rng rng(11);
    for (int trial = 0; trial < 200; ++trial) {
        Problem problem = random_problem(rng);
        const std::vector<double> rates = solve(problem.capacities, problem.classes);
        std::vector<std::size_t> order(problem.classes.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = i;
            std::swap(order[i], order[rng.below(i + 1)]);
        }
        std::vector<Loads> shuffled;
        for (const std::size_t i : order) {
            shuffled.push_back(problem.classes[i]);
        }
        const std::vector<double> again = solve(problem.capacities, shuffled);
        for (std::size_t i = 0; i < order.size(); ++i) {
            EXPECT_EQ(again[i], rates[order[i]]);
        }
    }
}

/// Sorted rates, compared from the smallest: more capacity may slow one flow down, but never this order.
TEST(MaxMin, more_capacity_never_lowers_the_slowest_rate) {
    Rng rng(13);
    for (int trial = 0; trial < 200; ++trial) {
        Problem problem = random_problem(rng);
        const std::vector<double> before = solve(problem.capacities, problem.classes);
        problem.capacities[rng.below(problem.capacities.size())] *= 2;
        const std::vector<double> after = solve(problem.capacities, problem.classes);
        EXPECT_GE(*std::min_element(after.begin(), after.end()),
                  *std::min_element(before.begin(), before.end()) * (1 - 1e-12));
    }
}

/// `copies` of a problem side by side, each on its own links except link 0, which all share with copies x capacity:
/// the flows one by one, and folded into one class that loads link 0 copies times and its own links once.
TEST(MaxMin, classes_of_equal_flows_have_the_rates_of_the_flows_to_the_bit) {
    Rng rng(17);
    constexpr std::uint32_t kCopies = 5;
    for (int trial = 0; trial < 200; ++trial) {
        Problem problem = random_problem(rng);
        const auto links = static_cast<std::uint32_t>(problem.capacities.size());
        std::vector<double> capacities;
        std::vector<Loads> one_by_one;
        for (std::uint32_t copy = 0; copy < kCopies; ++copy) {
            capacities.insert(capacities.end(), problem.capacities.begin(), problem.capacities.end());
            for (const Loads& loads : problem.classes) {
                one_by_one.emplace_back();
                for (const LinkLoad& on : loads) {
                    one_by_one.back().push_back({on.link == 0 ? 0 : copy * links + on.link, on.load});
                }
            }
        }
        capacities[0] *= kCopies;
        problem.capacities[0] *= kCopies;
        std::vector<Loads> folded = problem.classes;
        for (Loads& loads : folded) {
            for (LinkLoad& on : loads) {
                on.load *= on.link == 0 ? kCopies : 1;
            }
        }
        const std::vector<double> by_class = solve(problem.capacities, folded);
        const std::vector<double> by_flow = solve(capacities, one_by_one);
        for (std::size_t f = 0; f < by_flow.size(); ++f) {
            EXPECT_EQ(by_class[f % folded.size()], by_flow[f]);
        }
    }
}

}  // namespace
}  // namespace auspex::network
