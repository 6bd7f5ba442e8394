#pragma once
/// @file Plans as a configuration of torchtitan, and back. Names: torchtitan/config of pytorch/torchtitan at b5bcd76c
/// (2026-08-21), ParallelismConfig and TrainingConfig; activation_checkpoint.mode, training.mixed_precision_param and
/// _reduce, debug.moe_force_load_balance and names of schedules as they have been for some releases.
#include <vector>

#include "interop/emission.hpp"
#include "interop/imported_plan.hpp"

namespace auspex::interop {

/// A Python function that returns a full configuration: that of the user's model, with every field of the plan set.
/// Throws InputError naming the plan's field for what torchtitan cannot do, or has no setting for: an expert tp, states
/// that are sharded without weights, all-gather dispatch, kernels of experts other than grouped ones, parts of a layer
/// recomputed by themselves, gradients reduced in bf16, every word of overlap, stages that no weight of embedding and
/// head gives, replicas outside the pipeline.
[[nodiscard]] Emission torchtitan_emission(const EmitRequest& request);

/// A plan from --section.option=value of a script, or from a Python function's SECTION=…(option=value, …) and
/// ….SECTION.option = value; a here-document of a script will do. Throws InputError naming the option that is missing,
/// not understood, or of earlier releases; for TOML; where layers have to be known and are not.
[[nodiscard]] ImportedPlan plan_of_torchtitan(const PlanText& from);

/// Layers of each stage as torchtitan deals them, with embedding and head counted as so many layers: evenly, the first
/// stages getting the rest (generate_llm_fqn_per_model_part). Empty where it refuses to: stages without layers to
/// count, or a weight above a stage's share.
[[nodiscard]] std::vector<int> torchtitan_layers(int layers, int stages, int embedding, int head);

}  // namespace auspex::interop
