#pragma once
/// @file Plans as DeepSpeed's JSON with arguments of Megatron-DeepSpeed, and back. Keys and names from general
/// knowledge of both (deepspeedai/DeepSpeed, argonne-lcf/Megatron-DeepSpeed), not read again at one commit.
#include "interop/emission.hpp"
#include "interop/imported_plan.hpp"

namespace auspex::interop {

/// Arguments of Megatron-DeepSpeed that describe the model. Throws InputError naming the workload's field that it does
/// not have: latent attention, normed queries and keys, norms without weights, shared experts, leading dense layers.
[[nodiscard]] Settings deepspeed_model(const models::Workload& workload);

/// The JSON holds batch, ZeRO and precision; the arguments the model, pp, tp, ep, recompute, and the file's name.
/// Throws InputError naming the plan's field for what the two cannot do: cp, gpipe and interleaved stages, experts with
/// a pipeline, with fsdp, or with an expert tp other than tp, all-gather dispatch, kernels of experts other than their
/// loop, forced routing, states of the dense part that are not sharded over ep, fsdp with a pipeline, parts of a layer
/// recomputed by themselves, overlap of anything but the reduction behind no pipeline.
[[nodiscard]] Emission deepspeed_emission(const EmitRequest& request);

/// A plan from the JSON, in a file of its own with the arguments in `from.arguments`, or both in a script, the JSON as
/// a here-document. Of train_batch_size, train_micro_batch_size_per_gpu and gradient_accumulation_steps one may be left
/// out where the ranks are known. Throws InputError for JSON with comments, "auto", numbers that contradict each other,
/// what is not modelled (fp16, offloading, ZeRO 2) and keys and arguments that are not known.
[[nodiscard]] ImportedPlan plan_of_deepspeed(const PlanText& from);

}  // namespace auspex::interop
