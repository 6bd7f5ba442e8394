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

}  // namespace auspex::interop
