/// @file The order of sources against Megatron-LM's algorithm, written down a second time.
#include "exec/blend/blend_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.hpp"

namespace auspex::exec {
namespace {

/// build_blending_indices as its comment in Megatron-LM says it: all errors of a sequence, then the first largest.
std::vector<std::size_t> naive_order(const std::vector<double>& weights, std::int64_t sequences) {
    std::vector<double> taken(weights.size());
    std::vector<std::size_t> order;
    for (std::int64_t i = 0; i < sequences; ++i) {
        std::vector<double> errors(weights.size());
        for (std::size_t d = 0; d < weights.size(); ++d) {
            errors[d] = weights[d] * (i == 0 ? 1.0 : static_cast<double>(i)) - taken[d];
        }
        order.push_back(static_cast<std::size_t>(std::max_element(errors.begin(), errors.end()) - errors.begin()));
        taken[order.back()] += 1;
    }
    return order;
}

/// Log-normal, exp(spread z).
std::vector<double> random_weights(Rng& rng, std::size_t sources, double spread) {
    std::vector<double> weights(sources);
    for (double& weight : weights) {
        weight = std::exp(spread * rng.normal());
    }
    return weights;
}

std::vector<std::int64_t> counts_before(const std::vector<double>& weights, std::int64_t sequence) {
    BlendOrder order(weights);
    while (order.sequence() < sequence) {
        order.next();
    }
    return order.counts();
}

TEST(BlendOrder, is_megatrons_for_random_weights) {
    Rng rng(5);
    for (const std::size_t sources : {1U, 2U, 3U, 7U, 20U, 60U}) {
        for (const double spread : {0.0, 0.5, 2.0, 5.0}) {
            const std::vector<double> weights = megatron_weights(random_weights(rng, sources, spread));
            BlendOrder order(weights);
            for (const std::size_t expected : naive_order(weights, 3000)) {
                ASSERT_EQ(order.next(), expected) << sources << " sources, sequence " << order.sequence() - 1;
            }
            EXPECT_EQ(std::accumulate(order.counts().begin(), order.counts().end(), std::int64_t{0}), 3000);
        }
    }
}

// By hand: at sequence 0 and 1 the place is 1. Errors of 1/2, 1/4, 1/4: 0 first; then -1/2, 1/4, 1/4; at place 2 they
// are 0, -1/2, 1/2; at 3 they are 1/2, -1/4, -1/4.
TEST(BlendOrder, of_a_half_and_two_quarters_is_known) {
    BlendOrder order(std::vector<double>{0.5, 0.25, 0.25});
    std::vector<std::size_t> found;
    for (int i = 0; i < 4; ++i) {
        found.push_back(order.next());
    }
    EXPECT_EQ(found, (std::vector<std::size_t>{0, 1, 2, 0}));
}

// The sum of eight and more weights has numpy's order: eight sums, in pairs, then the rest. Of 1e16 and nine ones, in
// lanes, the first has 1e16 + 1 = 1e16, and the others 1 each.
TEST(BlendOrder, weights_are_summed_as_numpy_does) {
    std::vector<double> weights(10, 1.0);
    weights[0] = 1e16;
    const double sum = ((((1e16 + 1.0) + (1.0 + 1.0)) + ((1.0 + 1.0) + (1.0 + 1.0))) + 1.0) + 1.0;
    const std::vector<double> found = megatron_weights(weights);
    std::vector<double> once(10, 1.0 / sum);
    once[0] = 1e16 / sum;
    const double again =
        ((((once[0] + once[1]) + (once[2] + once[3])) + ((once[4] + once[5]) + (once[6] + once[7]))) + once[8]) +
        once[9];
    EXPECT_EQ(found[0], once[0] / again);
    EXPECT_EQ(found[9], once[9] / again);
    const std::vector<double> many = megatron_weights(std::vector<double>(1000, 3.0));
    EXPECT_NEAR(std::accumulate(many.begin(), many.end(), 0.0), 1, 1e-12);
}

TEST(BlendOrder, sizes_are_those_that_megatron_prepares) {
    // ceil(1.005 ceil(1000 w)): 700 -> 703.5, 250.5 -> 251 -> 252.255, 49.5 -> 50 -> 50.25
    EXPECT_EQ(megatron_sizes(std::vector<double>{0.7, 0.2505, 0.0495}, 1000),
              (std::vector<std::int64_t>{704, 253, 51}));
}

TEST(BlendOrder, no_source_needs_more_than_megatron_prepares) {
    Rng rng(11);
    for (int trial = 0; trial < 40; ++trial) {
        const std::vector<double> weights = megatron_weights(random_weights(rng, 2 + rng.below(30), 1.5));
        const std::int64_t sequences = 2000 + static_cast<std::int64_t>(rng.below(5000));
        const std::vector<std::int64_t> counts = counts_before(weights, sequences);
        const std::vector<std::int64_t> sizes = megatron_sizes(weights, sequences);
        for (std::size_t d = 0; d < counts.size(); ++d) {
            EXPECT_LE(counts[d], sizes[d] + 1);
            EXPECT_NEAR(static_cast<double>(counts[d]), weights[d] * static_cast<double>(sequences), 2);
        }
    }
}

TEST(BlendOrder, a_start_in_the_middle_is_mostly_right) {
    Rng rng(3);
    for (const std::size_t sources : {2U, 10U, 50U}) {
        for (int trial = 0; trial < 8; ++trial) {
            const std::vector<double> weights = megatron_weights(random_weights(rng, sources, 1));
            const std::int64_t sequence = 20'000 + static_cast<std::int64_t>(rng.below(100'000));
            EXPECT_EQ(likely_counts(weights, sequence), counts_before(weights, sequence));
            EXPECT_EQ(likely_counts(weights, 100), counts_before(weights, 100));
        }
    }
}

}  // namespace
}  // namespace auspex::exec
