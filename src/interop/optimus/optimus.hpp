#pragma once
/// @file Plans as variables of Optimus-LM, and back: those that run_experiment.sh of IntelLabs/Optimus-LM reads, the
/// library of arXiv:2604.00785.
#include "interop/emission.hpp"
#include "interop/imported_plan.hpp"

namespace auspex::interop {

/// MODEL_CHOICE: a model of Hugging Face, with what is scaled behind it: "allenai/OLMoE-1B-7B-0924--SE1.5-L32", with SA
/// for heads, SH for the hidden size, SE for experts, SI for an expert's width, L for layers. Throws InputError naming
/// the workload's field that no such model has.
[[nodiscard]] std::string optimus_model(const models::Workload& workload);

/// Variables of a plan. Throws InputError naming the plan's field for what Optimus-LM cannot do, or what nothing public
/// says how it does: cp, an expert tp other than tp, fp32, fsdp, all-to-all, overlap, parts of a layer recomputed by
/// themselves other than experts, layers that stages do not divide, ranks that are not [dp, pp, ep, tp].
[[nodiscard]] Emission optimus_emission(const EmitRequest& request);

/// A plan from NAME=VALUE of a script. Throws InputError naming the variable that is missing or not understood.
[[nodiscard]] ImportedPlan plan_of_optimus(const PlanText& from);

}  // namespace auspex::interop
