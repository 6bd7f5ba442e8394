#pragma once
/// @file How unevenly tokens fall on experts: load of the heaviest rank over the mean.
#include <vector>

#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::models {

/// What a routing distribution does to the expert-parallel ranks of one group.
struct RoutingLoad {
    double heaviest_rank =
        1;  ///< routed tokens of the busiest of the ep ranks over their mean, expected over placements of experts
    double heaviest_expert = 1;  ///< of the busiest expert over the mean
    /// Of each index in an ep group, over the mean; the largest is heaviest_rank. zipf and dirichlet: the expected load
    /// of the busiest, of the second busiest and so on, always in this order. trace: as recorded. Empty: even.
    std::vector<double> by_rank;
    /// What a network is told of uneven routing; empty: even.
    [[nodiscard]] std::vector<double> uneven_shares() const {
        return heaviest_rank > 1 ? by_rank : std::vector<double>();
    }
};

/// uniform, and learned, of which nothing is known before it is trained: 1. zipf(s): share of expert i ~ (i+1)^-s,
/// experts dealt to ranks by a seeded shuffle a layer, mean over `draws` layers. dirichlet(a): shares drawn. trace: the
/// recorded shares, experts on ranks in order. Deterministic for a seed.
[[nodiscard]] RoutingLoad routing_load(const Routing& routing, int num_experts, int ep, std::uint64_t seed,
                                       int draws = 32);

}  // namespace auspex::models
