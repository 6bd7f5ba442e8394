/// @file Reads and writes the file of fitted constants.
#include "workflows/validate/fitted_file.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "compare/fit/machine_edit.hpp"
#include "launch/input_files.hpp"
#include "models/machine.hpp"
#include "models/stack_file/communication.hpp"
#include "workflows/validate/case_files.hpp"
#include "workflows/validate/run_predictor.hpp"

namespace auspex::workflows {

JsonDocument file_to_fit(const FitConstantsRequest& request, const std::vector<evaluate::ValidatedRun>& cases) {
    if (request.stack.empty()) {
        return launch::load_document("machine", place_of(request.machine, request.machines), request.overrides);
    }
    const std::string place = place_of(request.stack, request.stacks);
    JsonDocument file = launch::load_stack_file(place);
    const auto is_of_library = [](const std::string& text) {
        return text.starts_with("stack.transport.") || text.starts_with("stack.collectives.") ||
               text.starts_with("stack.communication");
    };
    if (std::ranges::none_of(request.constants, is_of_library) &&
        std::ranges::none_of(request.overrides, is_of_library)) {
        for (const std::string& text : request.overrides) {
            if (const launch::Override parts = launch::split_override(text); parts.role == "stack") {
                file.set(parts.path, parts.value);
            }
        }
        return file;
    }
    std::map<std::string, std::string> machines;  // by library
    std::optional<JsonDocument> found;
    for (const evaluate::ValidatedRun& one : cases) {
        const models::Machine machine =
            models::load_machine(launch::load_document("machine", place_of(one.machine, request.machines), {}));
        found = launch::load_stack_document(place, request.overrides, machine);
        machines.emplace(models::communication_name(models::load_stack(*found, machine)), machine.name);
    }
    if (machines.size() > 1) {
        throw InputError("--fit", "found cases on " + machines.begin()->second + " and " +
                                      std::next(machines.begin())->second + ", where stack " + request.stack +
                                      " communicates by " + machines.begin()->first + " and " +
                                      std::next(machines.begin())->first + "; expected constants of one library");
    }
    return std::move(*found);
}

namespace {

/// "fitted by auspex calibrate to 3 training runs: Megatron-LM (a, b, c)"
std::string source_of(const ConstantsFit& fit) {
    std::map<std::string, std::string> ids;
    int n = 0;
    for (const CaseOfFit& one : fit.cases) {
        if (!one.is_held_back) {
            std::string& list = ids[name_of_source(one.run.run)];
            list += (list.empty() ? "" : ", ") + one.run.run.id;
            ++n;
        }
    }
    std::string text = "fitted by auspex calibrate to " + counted(n, "training run");
    for (const auto& [source, list] : ids) {
        text += (source == ids.begin()->first ? ": " : "; ") + source + " (" + list + ")";
    }
    return text;
}

}  // namespace

void write_constants(ConstantsFit& fit) {
    const std::string source = source_of(fit);
    for (const FittedConstant& one : fit.constants) {
        if (!one.is_told()) {
            continue;
        }
        const std::string path = one.before.path.substr(one.before.path.find('.') + 1);
        fit::replace_constant(fit.file, path, one.before.dimension, one.value, source, ConstantKind::kFitted,
                              one.uncertainty);
    }
}

}  // namespace auspex::workflows
