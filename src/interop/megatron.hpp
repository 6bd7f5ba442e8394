#pragma once
/// @file Plans as arguments of Megatron-LM, and back. Names: megatron/training/argument_utils.py and
/// megatron/core/transformer/transformer_config.py of NVIDIA/Megatron-LM at d98e8a64 (2026-08-22).
#include <map>
#include <string>

#include "interop/settings.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::interop {

/// Arguments that describe the model: its shapes, what its layers are made of, the sequence.
[[nodiscard]] Settings megatron_model(const models::Workload& workload);
/// Arguments that describe a resolved plan. Throws InputError naming the plan's field where Megatron-LM cannot do it:
/// gpipe, a list of layers of each stage, recomputing attention or norms in ways of ours alone, one expert after
/// another with fused kernels, an order of ranks that it does not have, routing that is neither the router's nor forced
/// to be even, zipf, dirichlet or a trace, a dense optimizer state that ep ranks share but expert states do not. A
/// fused kernel of experts (expert_kernels "fused") is written as grouped products with fused permutation.
[[nodiscard]] Settings megatron_plan(const models::Workload& workload, const models::Plan& plan);

/// A plan file's content from arguments of Megatron-LM; `name` is that of the file, for messages, and `ranks` the size
/// of the job. Arguments that change no cost of a step are passed over. Throws InputError for one that is not known,
/// for names of earlier releases, and where ranks and batch do not divide as they have to.
[[nodiscard]] std::string plan_of_megatron(const std::map<std::string, std::string>& arguments, const std::string& name,
                                           int ranks);

}  // namespace auspex::interop
