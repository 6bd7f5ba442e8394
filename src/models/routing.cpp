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
/// to 1. Of an expert's rows the capacity is left.
RoutingLoad load_of(const std::vector<double>& shares, int ep, const RoutedLayers& layers) {
    const std::size_t ranks = static_cast<std::size_t>(ep);
    const std::size_t experts_per_rank = shares.size() / ranks;
    std::vector<double> rank_share(ranks, 0.0), left(ranks, 0.0);
    for (std::size_t i = 0; i < shares.size(); ++i) {
        rank_share[i / experts_per_rank] += shares[i];
    }
    // The same order of additions as in rank_share, so that one rank holds exactly the whole.
    const double total = std::accumulate(rank_share.begin(), rank_share.end(), 0.0);
    const double most = layers.capacity * total / static_cast<double>(shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
        left[i / experts_per_rank] += std::min(shares[i], most);
    }
    RoutingLoad load;
    load.dropped = std::max(0.0, 1 - std::accumulate(left.begin(), left.end(), 0.0) / total);
    for (const double share : left) {
        load.by_rank.push_back(share * static_cast<double>(ranks) / total / layers.even_rows);
    }
    load.heaviest_rank = *std::max_element(load.by_rank.begin(), load.by_rank.end());
    load.heaviest_expert = *std::max_element(shares.begin(), shares.end()) * static_cast<double>(shares.size()) / total;
    return load;
}

/// Adds up loads to their mean, each over `count`.
void add_to_mean(RoutingLoad& mean, const RoutingLoad& load, double count) {
    mean.by_rank.resize(load.by_rank.size(), 0.0);
    for (std::size_t i = 0; i < load.by_rank.size(); ++i) {
        mean.by_rank[i] += load.by_rank[i] / count;
    }
    mean.heaviest_rank += load.heaviest_rank / count;
    mean.heaviest_expert += load.heaviest_expert / count;
    mean.dropped += load.dropped / count;
}

/// Shares of one layer after the other.
class ShareDraws {
 public:
    ShareDraws(const Routing& routing, int num_experts, std::uint64_t seed)
        : routing_(routing), rng_(seed), shares_(zipf_shares(routing.parameter, num_experts)) {}
    const std::vector<double>& next() {
        if (routing_.kind == RoutingDistribution::kDirichlet) {
            shares_ = dirichlet_shares(routing_.parameter, static_cast<int>(shares_.size()), rng_);
        } else {
            shuffle(shares_, rng_);
        }
        return shares_;
    }

 private:
    const Routing& routing_;
    Rng rng_;
    std::vector<double> shares_;
};

/// All layers have the mean of many draws, its ranks by their load.
RoutingLoad alike_load(ShareDraws& shares, int ep, int draws, const RoutedLayers& layers) {
    AUSPEX_CHECK(draws > 0, "a mean needs at least one draw");
    RoutingLoad mean{0, 0, {}};
    for (int draw = 0; draw < draws; ++draw) {
        RoutingLoad load = load_of(shares.next(), ep, layers);
        std::sort(load.by_rank.begin(), load.by_rank.end(), std::greater<>());
        add_to_mean(mean, load, draws);
    }
    return mean;
}

/// `next_shares(layer)`: of each layer by itself.
template <class NextShares>
RoutingLoad load_by_layer(const NextShares& next_shares, int ep, const RoutedLayers& layers) {
    RoutingLoad mean{0, 0, {}};
    for (int layer = 0; layer < layers.count; ++layer) {
        const RoutingLoad load = load_of(next_shares(layer), ep, layers);
        add_to_mean(mean, load, layers.count);
        mean.layers.push_back({load.heaviest_rank, load.by_rank});
    }
    return mean;
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

double expert_capacity(const Workload& workload, double t_routed) {
    // What a product of fractions misses of a whole number is no row.
    constexpr double kRounding = 1e-9;
    return workload.capacity_factor == 0
               ? std::numeric_limits<double>::infinity()
               : std::ceil(workload.capacity_factor * t_routed * workload.top_k / workload.num_experts - kRounding);
}

double even_token_rows(const Workload& workload, double t_routed) {
    return workload.num_experts == 0
               ? 0
               : std::min(t_routed * workload.top_k / workload.num_experts, expert_capacity(workload, t_routed));
}

double even_rows(const Workload& workload, double t_routed) {
    return workload.pad_to_capacity ? expert_capacity(workload, t_routed) : even_token_rows(workload, t_routed);
}

namespace {

double mean_of(const std::vector<double>& values) {
    return values.empty() ? 1 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double RoutingLoad::kept_of_even() const { return mean_of(by_rank); }

double RoutingLoad::least() const {
    double least = std::min(1.0, mean_of(by_rank));
    for (const LayerLoad& layer : layers) {
        least = std::min(least, mean_of(layer.by_rank));
    }
    return least;
}

double RoutingLoad::heaviest_rank_of(int layer) const {
    return layers.empty() ? heaviest_rank : layers.at(static_cast<std::size_t>(layer - first_layer)).heaviest_rank;
}

const std::vector<double>& RoutingLoad::by_rank_of(int layer) const {
    return layers.empty() ? by_rank : layers.at(static_cast<std::size_t>(layer - first_layer)).by_rank;
}

RoutingLoad routing_load(const Plan& plan, const Workload& workload) {
    constexpr std::uint64_t kSeed = 1;
    constexpr int kDraws = 32;
    if (workload.num_experts == 0) {
        return {};
    }
    const double t = static_cast<double>(plan.micro_batch_size) * workload.sequence_length / plan.cp;
    const double t_routed = t * plan.etp / plan.tp;
    const double rows = t_routed * workload.top_k / workload.num_experts;
    const RoutedLayers layers{workload.moe_layers(), expert_capacity(workload, t_routed) / rows,
                              even_rows(workload, t_routed) / rows};
    RoutingLoad load = routing_load(plan.routing, workload.num_experts, plan.ep, kSeed, kDraws, layers);
    if (workload.pad_to_capacity) {  // every expert has as many rows
        load.by_rank.clear();
        load.layers.clear();
        load.heaviest_rank = 1;
    }
    load.spread = token_spread(workload);
    load.first_layer = workload.first_dense_layers;
    return load;
}

RoutingLoad routing_load(const Routing& routing, int num_experts, int ep, std::uint64_t seed, int draws,
                         const RoutedLayers& layers) {
    if (num_experts == 0) {
        return {};
    }
    AUSPEX_CHECK(ep > 0 && num_experts % ep == 0, "resolve_plan makes ep divide num_experts");
    if (!is_skewed(routing.kind)) {
        RoutingLoad even;
        even.dropped = std::max(0.0, 1 - layers.capacity);
        return even;
    }
    if (routing.kind == RoutingDistribution::kTrace) {
        AUSPEX_CHECK(routing.trace_shares.size() == static_cast<std::size_t>(num_experts),
                     "resolve_plan checks the trace's length");
        if (routing.layer_shares.empty() || routing.alike_layers) {
            return load_of(routing.trace_shares, ep, layers);
        }
        RoutedLayers own = layers;
        own.count = static_cast<int>(routing.layer_shares.size());
        return load_by_layer([&](int layer) { return routing.layer_shares[static_cast<std::size_t>(layer)]; }, ep, own);
    }
    ShareDraws shares(routing, num_experts, seed);
    return routing.alike_layers ? alike_load(shares, ep, draws, layers)
                                : load_by_layer([&](int) { return shares.next(); }, ep, layers);
}

}  // namespace auspex::models
