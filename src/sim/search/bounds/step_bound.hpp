#pragma once
/// @file The estimate lens: lower bounds of a plan's folded step, from the same costs of kernels and transfers, without
/// playing it.
#include <map>
#include <optional>
#include <tuple>

#include "sim/network/collective/network.hpp"
#include "sim/search/bounds/cpu_floor.hpp"
#include "sim/search/bounds/layer_costs.hpp"
#include "sim/search/bounds/pass_traits.hpp"
#include "sim/search/bounds/pipeline_bound.hpp"

namespace auspex::search {

/// Without a network, for the many: kernels, and of each communication that blocks and leaves its node what its ranks'
/// transports need at least. Of a group of n with at most k members in a node, each of which moves R bytes/s (the
/// stack's transport):
///   all-gather, reduce-scatter, all-reduce  bytes (n - k) / n / (k R)    a node has to get, or give away, so much
///   all-to-all                              bytes (n - k) / n / R
///   message to another stage                bytes / R
/// and likewise the sums of gradients behind the passes and the gathers of parameters, of the stage that has least of
/// them. Ignores: the optimizer's kernels, links. On machines of CPU cores CpuFloor::kernels_s. For one grid.
class GridFloor {
 public:
    /// Of the grid of which `like` is a plan. Inputs and table must outlive it.
    GridFloor(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like);
    /// Of one plan.
    [[nodiscard]] double of(const Candidate& plan);
    /// Weights and gradients of the fullest stage, and what is reserved: no plan of this grid, number of chunks and
    /// deal of layers whose weights are whole takes less; with fsdp what is reserved alone.
    [[nodiscard]] double memory_bytes(const Candidate& plan);
    /// Of the optimizer block alone.
    [[nodiscard]] double optimizer_s(const Candidate& plan);
    /// Of all plans of a shape of `space` together.
    [[nodiscard]] double of_any(const PlanSpace& space, std::size_t shape);

 private:
    /// Seconds of a pass, by part.
    struct PartTimes {
        std::array<double, kParts> forward_s{}, backward_s{};
        std::array<double, kParts> shards_s{};  ///< of both passes (LayerCosts::of_shards)
    };
    [[nodiscard]] const PartTimes& times_of(const Candidate& plan);
    [[nodiscard]] double floor_s(const schedule::Operation& op) const;
    [[nodiscard]] double floor_s(models::GroupKind group, double bytes) const;
    [[nodiscard]] double bound_s(const Candidate& plan, const PartTimes& times, double optimizer_s, bool blocks);
    [[nodiscard]] const std::vector<double>& messages_s(const Candidate& plan);

    const models::Inputs& inputs_;
    LayerCostTable& table_;
    std::optional<CpuFloor> cpu_;
    double transport_bytes_per_s_;
    std::map<models::GroupKind, std::pair<int, int>> group_;  ///< ranks, and the most of them in a node
    std::vector<bool> leaves_node_;                           ///< by stage: a message to the next one, of any rank
    std::map<std::tuple<Chunks, int, bool>, std::vector<double>> messages_;  ///< by virtual stage
    std::map<std::pair<const LayerCosts*, int>, PartTimes> times_;
    /// Of the stages: the least of each, and the most of both together.
    struct StageExtremes {
        double least_dense = 0, least_experts = 0, most = 0;
    };
    [[nodiscard]] std::array<schedule::StageParameters, kParts> parameters_of(const Candidate& plan) const;
    [[nodiscard]] const StageExtremes& extremes_of(const Candidate& plan);
    std::map<Chunks, StageExtremes> extremes_;
    // of any plan
    std::map<std::pair<int, bool>, PartTimes> least_;  ///< by micro-batch size, and whether backward passes are split
    std::map<Chunks, double> least_optimizer_;
};

/// With what blocks of communication, at the rates of transfers alone on the network of a grid: for plans of that grid.
/// Where the optimizer block begins with a barrier it is played: all that it does follows from there.
/// Ignores: sharing of links among passes, jitter, reductions of whole gradients beside passes.
class GridBound {
 public:
    /// Of one grid, of which `like` is a plan. Inputs and table must outlive it.
    GridBound(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like);
    /// In closed form.
    [[nodiscard]] double of(const Candidate& candidate);
    /// The same with at least so much for the optimizer block, whose transfers are not looked at.
    [[nodiscard]] double of(const Candidate& candidate, double optimizer_s);
    /// By way of all passes, which is nearer and takes longer.
    [[nodiscard]] double of_passes(const Candidate& candidate);
    /// Of the grid, for plans that are played.
    [[nodiscard]] network::Network& network() { return network_; }

 private:
    GridBound(const models::Inputs& inputs, LayerCostTable& table, const models::Plan& resolved);
    [[nodiscard]] BoundTerms terms_of(const Candidate& candidate, std::span<const std::vector<double>> optimizer);
    [[nodiscard]] double part_s(std::optional<double>& known_s, const PartCosts& part, const Candidate& candidate,
                                int stage);
    /// `least_load`: of routed bytes.
    [[nodiscard]] double solo_s(const schedule::Operation& op, int stage, double least_load = 1);
    /// By virtual stage.
    struct PassTimes {
        std::vector<double> forward_s, backward_s;
        std::vector<double> input_s, weight_s;  ///< where backward passes are split
        std::vector<double> shards_s;           ///< of both passes
    };
    struct MessageTimes {
        std::vector<double> next_s, back_s;
    };
    [[nodiscard]] const PassTimes& passes_of(const Candidate& candidate);
    /// Seconds of a pass of a stage, by part: those that were asked for.
    using KnownTimes = std::array<std::optional<double>, kParts>;
    struct PartTimes {
        KnownTimes forward_s, backward_s, input_s, weight_s, shards_s;
    };
    /// Of virtual stage `v`, which lies on `stage`.
    [[nodiscard]] double shards_s(PartTimes& known, const LayerCosts& costs, const Candidate& candidate, int v,
                                  int stage);
    [[nodiscard]] const MessageTimes& messages_of(const Candidate& candidate);
    [[nodiscard]] const std::vector<std::vector<double>>& optimizer_of(const Candidate& candidate);
    [[nodiscard]] double played_optimizer_s(const Candidate& candidate, const models::Plan& plan);
    [[nodiscard]] std::vector<double> optimizer_parts(const Candidate& candidate, const models::Plan& plan, int stage);

    const models::Inputs& inputs_;
    LayerCostTable& table_;
    models::Layout layout_;
    network::Network network_;
    std::map<std::tuple<schedule::CommKind, models::GroupKind, int, double, int>, double> solo_;
    std::map<std::pair<const LayerCosts*, int>, std::vector<PartTimes>> parts_;  ///< by stage
    std::map<std::tuple<const LayerCosts*, Chunks, int>, PassTimes> passes_;
    std::map<std::tuple<Chunks, int, bool>, MessageTimes> messages_;
    std::map<std::tuple<models::OptimizerSharding, Chunks, bool, bool>, std::vector<std::vector<double>>> optimizers_;
};

}  // namespace auspex::search
