#pragma once
/// @file Workload and plan of a published run, as the files of this project say them.
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published/published_run.hpp"

namespace auspex::evaluate {

/// Texts of workload and plan files. Both have what their loaders check; the plan is not resolved.
struct RunInputTexts {
    std::string workload, plan;
    std::vector<std::string> notes;  ///< what was taken where the case does not say
};

/// Throws InputError, which names the case and what of it cannot be said: "without a number of attention heads",
/// "global batch 63 is no multiple of …".
///
/// Where a case does not say: the activation is that of is_swiglu;
/// two matrices come with layer norms, biases, learned positions (not with ALiBi) and tied embeddings; etp 1 with ep
/// above 1; capacity and its padding as the framework has them; ranks as Megatron orders them (tp, cp, ep, dp, pp);
/// fp16 is as fast as bf16. `overlap` are the framework's streams, as far as the run has them.
[[nodiscard]] RunInputTexts run_inputs(const PublishedRun& run, const RunNames::Framework& framework);

}  // namespace auspex::evaluate
