#pragma once
/// @file Every plan that lays a model over a number of tiles with a global batch: enumerated, and counted where nothing
/// comes of a grid.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/inputs.hpp"

namespace auspex::search {

/// A plan of a space in few bytes: the fields that vary. Booleans in masks: recompute norm 1, attention 2, expert 4;
/// overlap tp 1, ep 2, dp 4, pp 8.
struct Candidate {
    std::int32_t dp = 1, ep = 1, etp = 1, tp = 1, cp = 1, pp = 1, virtual_stages = 1;
    std::int32_t micro_batch_size = 1, micro_batches = 1;
    models::ScheduleKind schedule = models::ScheduleKind::k1f1b;
    models::OptimizerSharding optimizer = models::OptimizerSharding::kSharded;
    models::Dispatch dispatch = models::Dispatch::kAllToAll;
    models::ExpertKernels expert_kernels = models::ExpertKernels::kGrouped;
    std::uint8_t recompute = 0, overlap = 0, rank_order = 0;  ///< rank_order: into kRankOrders
    bool sequence_parallel = false;
};

/// Stages apart, with the replicas of a stage together or spread; tp innermost.
inline constexpr std::array<std::array<models::Axis, 4>, 2> kRankOrders{
    {{models::Axis::kDp, models::Axis::kPp, models::Axis::kEp, models::Axis::kTp},
     {models::Axis::kPp, models::Axis::kDp, models::Axis::kEp, models::Axis::kTp}}};

/// The base plan with the candidate's fields; what does not vary (precision, routing, placement) is the base's.
[[nodiscard]] models::Plan plan_of(const Candidate& candidate, const models::Plan& base);

/// "pp<=16": one of <=, <, >=, >, = between a field of the grid and a whole number.
struct Constraint {
    std::string field, comparison;
    int value = 0;
};
/// Of "pp<=16,tp<=12". Fields: dp, ep, etp, tp, cp, pp, virtual_stages, micro_batch_size, micro_batches. Throws
/// InputError that names `flag`.
[[nodiscard]] std::vector<Constraint> read_constraints(const std::string& flag, const std::string& text);

struct SpaceRequest {
    int tiles = 0, global_batch = 0;  ///< global_batch: sequences of a step
    std::vector<Constraint> where;
    std::vector<std::string> fixed;  ///< fields of the plan that stay as the base has them
    bool what_if = false;            ///< optimizers, dispatches and kernels that the stack does not offer, too
};

struct PlanSpace {
    std::vector<Candidate> candidates;              ///< all plans that resolve, in order of enumeration
    std::map<std::string, std::uint64_t> rejected;  ///< grids and batches of which nothing comes, by reason
};

/// pp up to the layers; tp, etp, ep, cp as they divide heads, expert width, experts and sequence (cp in powers of two
/// up to 64); micro-batch sizes that divide a rank's batch, up to 32; up to 8 virtual stages; every set of recomputed
/// modules; what the stack offers of optimizers, dispatches and expert kernels; overlap of every set of streams that it
/// can overlap and that exist; sequence parallelism where tp > 1; kRankOrders where they differ. dp follows. Placement
/// and stages of unequal numbers of layers do not vary. Throws InputError where nothing is left, with what is nearest.
[[nodiscard]] PlanSpace plan_space(const models::Inputs& inputs, const SpaceRequest& request);

}  // namespace auspex::search
