#pragma once
/// @file Plans as arguments of Megatron-LM, and back. Names: megatron/training/argument_utils.py and
/// megatron/core/transformer/transformer_config.py of NVIDIA/Megatron-LM at d98e8a64 (2026-08-22).
#include "interop/emission.hpp"
#include "interop/imported_plan.hpp"
#include "interop/settings.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::interop {

/// Arguments that describe the model: its shapes, what its layers are made of, the sequence, losses and initial
/// weights. Throws InputError for norms without weights. What a workload does not know is not written: scores of the
/// router by sigmoid, their scale and bias, positions beyond the base of the rotation.
[[nodiscard]] Settings megatron_model(const models::Workload& workload);
/// Arguments that describe a resolved plan. Throws InputError naming the plan's field where Megatron-LM cannot do it:
/// gpipe, recomputing attention without the rest of a layer, an order of ranks that it does not have, routing that is
/// neither the router's nor forced to be even, states of the dense part that are not sharded over ep, tensor-parallel
/// experts without sequence parallelism, what its overlap of expert communication does not go with. A fused kernel of
/// experts (expert_kernels "fused") is written as grouped products with fused permutation; with ep 1 "ep-aware" is
/// "sharded".
[[nodiscard]] Settings megatron_plan(const models::Workload& workload, const models::Plan& plan);

/// Both, with what a job needs beside them.
[[nodiscard]] Emission megatron_emission(const EmitRequest& request);

/// Throws InputError, naming the argument and both values, where arguments of the model are not the workload's. Those
/// that are not there are not asked for, unless the others describe a whole model (layers and hidden size) and a
/// missing one then means another: experts, groups of queries, layers with experts.
void check_megatron_model(ArgumentReader& in, const models::Workload& workload, int tp);

/// A plan from arguments of Megatron-LM. Arguments that change no cost of a step are passed over. Throws InputError for
/// one that is not known, for arguments of another model than from.workload, for names of earlier releases, and where
/// ranks and batch do not divide as they have to.
[[nodiscard]] ImportedPlan plan_of_megatron(const PlanText& from);

}  // namespace auspex::interop
