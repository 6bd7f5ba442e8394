#pragma once
/// @file How unevenly tokens fall on experts: load of the heaviest rank over the mean.
#include <vector>

#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::models {

/// Which experts a token may go to: any top_k, all sets of them alike, of the experts in any `top_groups` of `groups`
/// equal groups of neighbours.
struct TokenSpread {
    int experts = 1, top_k = 1, groups = 1, top_groups = 1;
    bool operator==(const TokenSpread&) const = default;
};
[[nodiscard]] TokenSpread token_spread(const Workload& workload);
/// The experts lie in `parts` equal parts, in their order: in how many of them a token has at least one of its experts,
/// the mean over all tokens. Of a part that holds x of the experts in the token's groups, M in all, the token misses
/// it with probability C(M - x, K) / C(M, K). Requires parts to divide the experts.
[[nodiscard]] double mean_parts_reached(const TokenSpread& spread, int parts);
/// Tokens of a rank that go to one of `nodes` nodes over those that go to one of the `ranks` on them, 1 or more: a node
/// is reached if any of its ranks is.
[[nodiscard]] double rows_to_a_node(const TokenSpread& spread, int nodes, int ranks);

/// What a routing distribution does to the expert-parallel ranks of one group.
struct RoutingLoad {
    double heaviest_rank =
        1;  ///< routed tokens of the busiest of the ep ranks over their mean, expected over placements of experts
    double heaviest_expert = 1;  ///< of the busiest expert over the mean
    /// Of each index in an ep group, over the mean; the largest is heaviest_rank. zipf and dirichlet: the expected load
    /// of the busiest, of the second busiest and so on, always in this order. trace: as recorded. Empty: even.
    std::vector<double> by_rank;
    TokenSpread spread{};  ///< routing_load of a plan sets it; of even routing whatever the distribution
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
/// Of a resolved plan, with the seed that all predictions take; of a dense model even.
[[nodiscard]] RoutingLoad routing_load(const Plan& plan, const Workload& workload);

}  // namespace auspex::models
