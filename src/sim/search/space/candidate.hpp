#pragma once
/// @file A plan of a space: the fields that vary.
#include <array>
#include <cstdint>
#include <vector>

#include "models/inputs.hpp"

namespace auspex::search {

/// Bits of Candidate::recompute and Candidate::overlap.
inline constexpr std::uint8_t kRecomputeNorm = 1, kRecomputeAttention = 2, kRecomputeExpert = 4, kRecomputeAll = 7;
/// Alone: as the given plan has it, which names parts of these, or layers.
inline constexpr std::uint8_t kRecomputeAsGiven = 8;
inline constexpr std::uint8_t kOverlapTp = 1, kOverlapEp = 2, kOverlapDp = 4, kOverlapPp = 8;

/// A plan of a space in few bytes: the fields that vary.
struct Candidate {
    std::int32_t dp = 1, ep = 1, etp = 1, tp = 1, cp = 1, pp = 1, virtual_stages = 1;
    std::int32_t micro_batch_size = 1, micro_batches = 1;
    models::ScheduleKind schedule = models::ScheduleKind::k1f1b;
    models::StageDeal stages = models::StageDeal::kEven;
    models::OptimizerSharding optimizer = models::OptimizerSharding::kSharded;
    models::Dispatch dispatch = models::Dispatch::kAllToAll;
    models::ExpertKernels expert_kernels = models::ExpertKernels::kGrouped;
    std::uint8_t recompute = 0, overlap = 0, rank_order = 0;  ///< rank_order: into kRankOrders
    bool sequence_parallel = false;
    bool operator==(const Candidate&) const = default;
};

/// Stages apart, with the replicas of a stage together or spread; tp innermost.
inline constexpr std::array<std::array<models::Axis, 4>, 2> kRankOrders{
    {{models::Axis::kDp, models::Axis::kPp, models::Axis::kEp, models::Axis::kTp},
     {models::Axis::kPp, models::Axis::kDp, models::Axis::kEp, models::Axis::kTp}}};

/// Bits of what a plan recomputes.
[[nodiscard]] std::uint8_t recompute_mask(const models::Plan& plan);
/// The base plan with the candidate's fields; what does not vary (precision, routing, placement) is the base's, and so
/// are layers that it lists.
[[nodiscard]] models::Plan plan_of(const Candidate& candidate, const models::Plan& base);
/// The word of the deal of a space that gives a plan the layers that it lists, the first of several; the plan's own
/// where there is none, as of lists with a stage without layers, which no space has.
[[nodiscard]] models::StageDeal named_deal(const models::Plan& plan, const models::Workload& workload);
/// Of each virtual stage.
[[nodiscard]] std::vector<int> stage_layers_of(const Candidate& candidate, const models::Inputs& inputs);

}  // namespace auspex::search
