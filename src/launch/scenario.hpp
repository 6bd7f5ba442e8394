#pragma once
/// @file A scenario file: all inputs of a job in one JSON file (docs/scenarios.md).
#include <string>
#include <vector>

#include "base/json.hpp"

namespace auspex::launch {

/// A flag that a scenario gives, as a command line would: its name without dashes, its values.
struct ScenarioFlag {
    std::string name;
    std::vector<std::string> values;
};

/// The flags that a scenario file gives, in the order of its keys: machine, stack, workload, plan (a name; a path,
/// which is relative to the file's folder; or, for an input that stands in the file itself, its scenario part), tiles
/// or nodes, global-batch, tokens, and set. Throws InputError.
[[nodiscard]] std::vector<ScenarioFlag> load_scenario(const std::string& file);

/// True for "FOLDER/s.json#plan/NAME.json": the plan that stands in the scenario file FOLDER/s.json.
[[nodiscard]] bool is_scenario_part(const std::string& name);
/// That input, as a document of that name. Throws InputError.
[[nodiscard]] JsonDocument load_scenario_part(const std::string& name);

/// An input to be written into a scenario.
struct ScenarioInput {
    std::string role, name;
    const JsonDocument* document = nullptr;
};
/// The text of a scenario that holds these inputs itself, and of what else is given, by key. Values are JSON.
[[nodiscard]] std::string scenario_text(const std::vector<ScenarioInput>& inputs,
                                        const std::vector<std::pair<std::string, std::string>>& others);

/// A plan whose routing names a file relative to `folder` names it as seen from the working directory's root then.
void take_trace_from(JsonDocument& plan, const std::string& folder);

}  // namespace auspex::launch
