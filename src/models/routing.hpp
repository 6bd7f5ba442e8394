#pragma once
/// @file How unevenly tokens fall on experts: load of the heaviest rank over the mean.
#include <limits>
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

/// Rows that one expert may get from the tokens of one rank, t_routed of them: ceil(c t_routed K / N) with the
/// capacity_factor c, as Megatron-LM counts them; infinite without one.
[[nodiscard]] double expert_capacity(const Workload& workload, double t_routed);
/// Rows of one expert from the tokens of one rank when routing is even: t_routed K / N, at most the capacity; with
/// pad_to_capacity that many.
[[nodiscard]] double even_rows(const Workload& workload, double t_routed);
/// Of them those that are tokens, not padding.
[[nodiscard]] double even_token_rows(const Workload& workload, double t_routed);

/// How uneven a layer is; all numbers are over the rows of a program, which are those of even routing.
struct LayerLoad {
    double heaviest_rank = 1;
    std::vector<double> by_rank;  ///< of each index in an ep group
};

/// What a routing distribution does to the expert-parallel ranks of one group.
struct RoutingLoad {
    /// Rows of the busiest of the ep ranks over those of even routing, the mean over the layers: in each its own.
    double heaviest_rank = 1;
    double heaviest_expert = 1;  ///< of the busiest expert over the mean, before any is dropped
    /// Of each index in an ep group, over the mean; the largest is heaviest_rank where all layers are alike. Layers
    /// that are: zipf and dirichlet have the expected load of the busiest, of the second busiest and so on, always in
    /// this order; a trace what is recorded. Else the mean over the layers. Empty: even.
    std::vector<double> by_rank;
    TokenSpread spread{};             ///< routing_load of a plan sets it; of even routing whatever the distribution
    double dropped = 0;               ///< share of all routed rows that no expert has room for
    int first_layer = 0;              ///< the first with experts
    std::vector<LayerLoad> layers{};  ///< those with experts, in order; empty: alike, or even

    /// Rows over those of even routing, the mean over all ranks and layers: below 1 where more is dropped.
    [[nodiscard]] double kept_of_even() const;
    /// What any layer's ranks have at least in the mean, 1 at most: a bound of what all of them wait for.
    [[nodiscard]] double least() const;
    [[nodiscard]] bool is_even() const { return by_rank.empty(); }
    [[nodiscard]] double heaviest_rank_of(int layer) const;
    /// Empty: even.
    [[nodiscard]] const std::vector<double>& by_rank_of(int layer) const;
    /// What a network is told of uneven routing where all layers are alike; else empty, as where it is even.
    [[nodiscard]] std::vector<double> uneven_shares() const {
        return layers.empty() && heaviest_rank != 1 ? by_rank : std::vector<double>();
    }
};

/// Experts for which layers routing_load is asked.
struct RoutedLayers {
    int count = 1;
    /// Rows that an expert may get, and those that it gets when routing is even, over t_routed K / N.
    double capacity = std::numeric_limits<double>::infinity(), even_rows = 1;
};
/// uniform, and learned, of which nothing is known before it is trained: even. zipf(s): share of expert i ~ (i+1)^-s,
/// dealt to ranks by a seeded shuffle. dirichlet(a): shares drawn. Each layer has a draw of its own; alike_layers: all
/// have the mean of `draws` of them. trace: the recorded shares, experts on ranks in order, of each layer where the
/// file tells them. Deterministic for a seed.
[[nodiscard]] RoutingLoad routing_load(const Routing& routing, int num_experts, int ep, std::uint64_t seed,
                                       int draws = 32, const RoutedLayers& layers = {});
/// Of a resolved plan, with the seed that all predictions take; of a dense model even.
[[nodiscard]] RoutingLoad routing_load(const Plan& plan, const Workload& workload);

}  // namespace auspex::models
