/// @file Words of a plan's choices.
#include "models/plan.hpp"

namespace auspex::models {

const char* to_string(OptimizerSharding kind) {
    switch (kind) {
        case OptimizerSharding::kReplicated: return "replicated";
        case OptimizerSharding::kSharded: return "sharded";
        case OptimizerSharding::kEpAware: return "ep-aware";
        case OptimizerSharding::kZero2: return "zero-2";
        case OptimizerSharding::kFsdp: return "fsdp";
    }
    return "";
}

Recompute recompute_of(const Plan& plan, int layer_of_stage) {
    if (plan.recompute_layers > 0 && layer_of_stage >= plan.recompute_layers) {
        return {};
    }
    Recompute all = plan.recompute;
    all.norm = all.norm || all.layer, all.attention = all.attention || all.layer, all.expert = all.expert || all.layer;
    return all;
}

const char* to_string(PlacementKind kind) {
    switch (kind) {
        case PlacementKind::kContiguous: return "contiguous";
        case PlacementKind::kScattered: return "scattered";
        case PlacementKind::kRandom: return "random";
        case PlacementKind::kScheduled: return "scheduled";
        case PlacementKind::kList: return "list";
    }
    return "";
}

std::optional<PlacementKind> placement_named(std::string_view word) {
    for (const PlacementKind kind : kNamedPlacements) {
        if (word == to_string(kind)) {
            return kind;
        }
    }
    return std::nullopt;
}

bool draws_nodes(PlacementKind kind) { return kind == PlacementKind::kRandom || kind == PlacementKind::kScheduled; }

bool is_skewed(RoutingDistribution kind) {
    return kind != RoutingDistribution::kUniform && kind != RoutingDistribution::kLearned;
}

const char* to_string(Dispatch kind) {
    switch (kind) {
        case Dispatch::kAllGatherReduceScatter: return "allgather-reducescatter";
        case Dispatch::kAllToAll: return "alltoall";
        case Dispatch::kHierarchical: return "hierarchical-alltoall";
    }
    return "";
}

const char* to_string(Fp8 kind) { return kFp8Words.at(static_cast<std::size_t>(kind)).data(); }

ContextSplit context_split(const Plan& plan) { return context_split(plan.context, plan.cp, plan.context_all_to_all); }

const char* to_string(ExpertKernels kind) {
    switch (kind) {
        case ExpertKernels::kLoop: return "loop";
        case ExpertKernels::kGrouped: return "grouped";
        case ExpertKernels::kFused: return "fused";
    }
    return "";
}

}  // namespace auspex::models
