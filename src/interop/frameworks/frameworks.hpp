#pragma once
/// @file The training frameworks that plans are written for and read from.
#include <string>
#include <vector>

#include "interop/emission.hpp"
#include "interop/imported_plan.hpp"

namespace auspex::interop {

struct Framework {
    const char* word;  ///< of --format: "megatron-lm"
    const char* name;  ///< in sentences: "Megatron-LM"
    Emission (*emit)(const EmitRequest&);
    ImportedPlan (*import)(const PlanText&);
};

[[nodiscard]] const std::vector<Framework>& frameworks();
/// Throws InputError, under `flag`, that lists the words.
[[nodiscard]] const Framework& framework_named(const std::string& word, const std::string& flag);

/// All of a resolved plan that a framework's settings cannot say, each as `recompute "attention" without others`, the
/// field first; of a model that they cannot say that alone. Empty: it takes the plan. `tiles_of_node`: of the machine.
[[nodiscard]] std::vector<std::string> refused_by(const Framework& framework, const models::Workload& workload,
                                                  const models::Plan& plan, int tiles_of_node);

}  // namespace auspex::interop
