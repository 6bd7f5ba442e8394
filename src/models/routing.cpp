/// @file How unevenly tokens fall on experts and on the ranks that hold them.
#include "models/routing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/rng.hpp"

namespace auspex::models {

namespace {

std::vector<double> zipf_shares(double exponent, int num_experts) {
    std::vector<double> shares(static_cast<std::size_t>(num_experts));
    for (std::size_t i = 0; i < shares.size(); ++i) {
        shares[i] = std::pow(static_cast<double>(i + 1), -exponent);
    }
    return shares;
}

std::vector<double> dirichlet_shares(double concentration, int num_experts, Rng& rng) {
    std::vector<double> shares(static_cast<std::size_t>(num_experts));
    double total = 0;
    for (double& share : shares) {
        share = rng.gamma(concentration);
        total += share;
    }
    if (!(total > 0)) {
        // Every gamma of a tiny concentration underflowed; the distribution's limit there is all tokens on one expert.
        shares[rng.below(shares.size())] = 1;
    }
    return shares;
}

void shuffle(std::vector<double>& values, Rng& rng) {
    for (std::size_t i = values.size(); i > 1; --i) {
        std::swap(values[i - 1], values[rng.below(i)]);
    }
}

/// Busiest rank and expert over the mean, experts dealt in order, shares.size() / ep to a rank. Shares need not sum
/// to 1.
RoutingLoad load_of(const std::vector<double>& shares, int ep) {
    const std::size_t ranks = static_cast<std::size_t>(ep);
    const std::size_t experts_per_rank = shares.size() / ranks;
    std::vector<double> rank_share(ranks, 0.0);
    for (std::size_t i = 0; i < shares.size(); ++i) {
        rank_share[i / experts_per_rank] += shares[i];
    }
    // The same order of additions as in rank_share, so that one rank holds exactly the whole.
    const double total = std::accumulate(rank_share.begin(), rank_share.end(), 0.0);
    RoutingLoad load;
    for (const double share : rank_share) {
        load.by_rank.push_back(share * static_cast<double>(ranks) / total);
    }
    load.heaviest_rank = *std::max_element(load.by_rank.begin(), load.by_rank.end());
    load.heaviest_expert = *std::max_element(shares.begin(), shares.end()) * static_cast<double>(shares.size()) / total;
    return load;
}

/// ln C(n, k), 0 <= k <= n.
double log_binomial(int n, int k) { return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0); }

/// C(all - held, k) / C(all, k).
double miss_probability(int all, int held, int k) {
    double probability = 1;
    for (int i = 0; i < k; ++i) {
        probability *= std::max(0.0, static_cast<double>(all - held - i)) / (all - i);
    }
    return probability;
}

/// That a token has none of its experts among [first, end). That range holds some groups whole and of at most two
/// others a piece.
double miss_probability(const TokenSpread& spread, int first, int end) {
    const int size = spread.experts / spread.groups, all = size * spread.top_groups;
    int whole = 0;
    std::vector<int> pieces;
    for (int group = first / size; group * size < end; ++group) {
        const int held = std::min(end, (group + 1) * size) - std::max(first, group * size);
        held == size ? static_cast<void>(++whole) : pieces.push_back(held);
    }
    const int cut = static_cast<int>(pieces.size());
    double probability = 0;
    for (unsigned chosen = 0; chosen < (1U << pieces.size()); ++chosen) {
        int held = 0;
        for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
            held += (chosen >> piece & 1U) != 0 ? pieces[piece] : 0;
        }
        for (int of_whole = 0; of_whole <= whole; ++of_whole) {
            const int others = spread.top_groups - std::popcount(chosen) - of_whole;
            if (others >= 0 && others <= spread.groups - whole - cut) {
                const double ways = log_binomial(whole, of_whole) + log_binomial(spread.groups - whole - cut, others) -
                                    log_binomial(spread.groups, spread.top_groups);
                probability += std::exp(ways) * miss_probability(all, held + of_whole * size, spread.top_k);
            }
        }
    }
    return probability;
}

}  // namespace

TokenSpread token_spread(const Workload& workload) {
    return {workload.num_experts, workload.top_k, workload.expert_groups, workload.top_k_groups};
}

double mean_parts_reached(const TokenSpread& spread, int parts) {
    AUSPEX_CHECK(parts > 0 && spread.experts % parts == 0, "parts are of whole experts");
    const int size = spread.experts / parts;
    double reached = 0;
    for (int part = 0; part < parts; ++part) {
        reached += 1 - miss_probability(spread, part * size, (part + 1) * size);
    }
    return reached;
}

double rows_to_a_node(const TokenSpread& spread, int nodes, int ranks) {
    return mean_parts_reached(spread, nodes) / nodes * ranks / mean_parts_reached(spread, ranks);
}

RoutingLoad routing_load(const Plan& plan, const Workload& workload) {
    constexpr std::uint64_t kSeed = 1;
    if (workload.num_experts == 0) {
        return {};
    }
    RoutingLoad load = routing_load(plan.routing, workload.num_experts, plan.ep, kSeed);
    load.spread = token_spread(workload);
    return load;
}

RoutingLoad routing_load(const Routing& routing, int num_experts, int ep, std::uint64_t seed, int draws) {
    if (!is_skewed(routing.kind) || num_experts == 0) {
        return {};
    }
    AUSPEX_CHECK(ep > 0 && num_experts % ep == 0, "resolve_plan makes ep divide num_experts");
    if (routing.kind == RoutingDistribution::kTrace) {
        AUSPEX_CHECK(routing.trace_shares.size() == static_cast<std::size_t>(num_experts),
                     "resolve_plan checks the trace's length");
        return load_of(routing.trace_shares, ep);
    }
    AUSPEX_CHECK(draws > 0, "a mean needs at least one draw");
    Rng rng(seed);
    RoutingLoad mean{0, 0, std::vector<double>(static_cast<std::size_t>(ep), 0.0)};
    std::vector<double> shares = zipf_shares(routing.parameter, num_experts);
    for (int draw = 0; draw < draws; ++draw) {
        if (routing.kind == RoutingDistribution::kDirichlet) {
            shares = dirichlet_shares(routing.parameter, num_experts, rng);
        } else {
            shuffle(shares, rng);
        }
        RoutingLoad load = load_of(shares, ep);
        std::sort(load.by_rank.begin(), load.by_rank.end(), std::greater<>());
        for (std::size_t i = 0; i < load.by_rank.size(); ++i) {
            mean.by_rank[i] += load.by_rank[i] / draws;
        }
        mean.heaviest_rank += load.heaviest_rank / draws;
        mean.heaviest_expert += load.heaviest_expert / draws;
    }
    return mean;
}

}  // namespace auspex::models
