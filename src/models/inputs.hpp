#pragma once
/// @file The four inputs of a prediction.
#include "base/json.hpp"
#include "models/machine.hpp"
#include "models/plan.hpp"
#include "models/published/published_spread.hpp"
#include "models/stack.hpp"
#include "models/workload.hpp"

namespace auspex::models {

/// The four inputs, as loaded and as documents (for overrides, hashes and sensitivity).
struct Inputs {
    JsonDocument machine_document, stack_document, workload_document, plan_document;
    Machine machine;
    Stack stack;
    Workload workload;
    Plan plan;  ///< as in the file, not yet resolved
    /// Of published runs with this stack and machine, or as near as there are; whoever loads inputs for a prediction of
    /// which it is to be said fills it in.
    std::optional<PublishedSpread> published_spread{};
};

/// Loads the documents' contents again (after overrides). Throws InputError.
[[nodiscard]] Inputs load_inputs(JsonDocument machine, JsonDocument stack, JsonDocument workload, JsonDocument plan);

}  // namespace auspex::models
