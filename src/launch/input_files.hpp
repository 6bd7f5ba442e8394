#pragma once
/// @file From names to documents: where input files are looked for, and overrides of their fields.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "interop/overrides.hpp"
#include "models/machine.hpp"
#include "models/published/published_spread.hpp"
#include "models/stack.hpp"

namespace auspex::launch {

/// The file that a name means: itself if it has a "/" or ends in ".json"; else FOLDER/NAME.json in the folder that
/// AUSPEX_DATA names, in the working directory, or, where AUSPEX_DATA is not set, among the data that came with the
/// program; else a file of that very name. `role` is "machine", "stack", "workload" or "plan", whose folder is
/// "machines", …; "layouts" (plans/layouts); "measurements" (machines/measurements, ".csv"); or "published-names"
/// (machines/published); or "published-training" (machines/published/training). Throws InputError that
/// lists what is there, under the flag of the role or as `asked_by` has it: "--plans toy-dp4".
[[nodiscard]] std::string find_input(const std::string& role, const std::string& name,
                                     const std::string& asked_by = "");
/// The names that find_input knows for a role. Throws InputError for an unknown role.
[[nodiscard]] std::set<std::string> input_names(const std::string& role);

using interop::import_workload;
using interop::Override;
using interop::require_roles;
using interop::split_override;
using interop::value_set;

/// True for an input that is given as its own JSON text instead of by name: anything that begins with "{".
[[nodiscard]] bool is_inline(const std::string& name);
/// What messages call an input of this name: its file (find_input), or "plan (inline)".
[[nodiscard]] std::string document_name(const std::string& role, const std::string& name);

/// Loads a role's document and applies the overrides of that role; a workload may be a config.json. A routing trace
/// that an override or an inline plan names is relative to the working directory, one that the plan's file names to
/// that file's folder.
[[nodiscard]] JsonDocument load_document(const std::string& role, const std::string& name,
                                         const std::vector<std::string>& overrides);
/// A stack's document as it is on a machine: the library and the release of tiles of its architecture. load_document
/// has it as it is where nothing is known of the machine.
[[nodiscard]] JsonDocument load_stack_document(const std::string& name, const std::vector<std::string>& overrides,
                                               const models::Machine& machine);
/// What the document says.
[[nodiscard]] models::Stack load_stack(const std::string& name, const std::vector<std::string>& overrides,
                                       const models::Machine& machine);
/// A stack as its file is, whatever library and release it has on machines.
[[nodiscard]] JsonDocument load_stack_file(const std::string& name);
/// Of a run.
struct MachineAndStack {
    JsonDocument machine, stack;
};
[[nodiscard]] MachineAndStack load_machine_and_stack(const std::string& machine, const std::string& stack,
                                                     const std::vector<std::string>& overrides);

/// machines/published/spread.json of the data folders: how far published runs are off; none where there is no such
/// file.
[[nodiscard]] std::vector<models::PublishedSpread> published_spreads();

}  // namespace auspex::launch
