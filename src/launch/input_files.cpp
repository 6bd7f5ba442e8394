/// @file Data folders, and documents with overrides.
#include "launch/input_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text/closest_word.hpp"
#include "launch/installation.hpp"
#include "launch/scenario.hpp"
#include "models/stack.hpp"
#include "models/stack_file/library_beside.hpp"

namespace auspex::launch {
namespace {

namespace fs = std::filesystem;

/// Where files of a role are, below a data folder.
struct RoleFolder {
    const char* role;
    const char* flag;
    const char* folder;
    const char* extension;
};

constexpr std::array kRoleFolders{RoleFolder{"machine", "--machine ", "machines", ".json"},
                                  RoleFolder{"stack", "--stack ", "stacks", ".json"},
                                  RoleFolder{"workload", "--workload ", "workloads", ".json"},
                                  RoleFolder{"plan", "--plan ", "plans", ".json"},
                                  RoleFolder{"layouts", "--layouts ", "plans/layouts", ".json"},
                                  RoleFolder{"measurements", "--from ", "machines/measurements", ".csv"},
                                  RoleFolder{"published-names", "--against ", "machines/published", ".json"},
                                  RoleFolder{"published-training", "", "machines/published/training", ".json"}};

const RoleFolder& folder_of(const std::string& role) {
    std::string roles;
    for (const RoleFolder& one : kRoleFolders) {
        if (one.role == role) {
            return one;
        }
        roles += (roles.empty() ? "" : ", ") + std::string(one.role);
    }
    throw InputError("--role", "found \"" + role + "\"; expected one of " + roles);
}

/// Folders that may hold machines/, stacks/, workloads/, plans/, in the order in which they are asked.
std::vector<fs::path> data_folders() {
    const fs::path working_directory, given = given_data_folder();
    if (!given.empty()) {
        return {given, working_directory};
    }
    const fs::path own = own_data_folder();
    return own.empty() ? std::vector{working_directory} : std::vector{working_directory, own};
}

/// What there is instead of a name that is not there.
std::string names_there(const std::string& role) {
    std::string list;
    for (const std::string& name : input_names(role)) {
        list += (list.empty() ? "" : ", ") + name;
    }
    if (list.empty()) {
        return std::string("none, as no ") + folder_of(role).folder + "/ is here or came with the program; " +
               kDataVariable + " names the folder that has it";
    }
    return list;
}

/// Of this computer's machine file, which is not in the repository.
constexpr const char* kMakeLocal = "; auspex calibrate makes it, of this computer";

}  // namespace

std::string find_input(const std::string& role, const std::string& name, const std::string& asked_by) {
    std::error_code status;
    const RoleFolder& of_role = folder_of(role);
    const bool is_bare = name.find('/') == std::string::npos && !name.ends_with(of_role.extension);
    const bool is_of_calibration = role == "machine" && fs::path(name).stem() == "local";
    if (!is_bare) {
        if (is_of_calibration && !fs::exists(name, status) && !status) {
            throw InputError("--machine " + name, "found no such file" + std::string(kMakeLocal));
        }
        return name;
    }
    for (const fs::path& folder : data_folders()) {
        const fs::path file = folder / of_role.folder / (name + of_role.extension);
        if (fs::is_regular_file(file, status)) {
            return file.string();
        }
    }
    if (fs::exists(name, status)) {
        return name;
    }
    const std::set<std::string> names = input_names(role);
    throw InputError(asked_by.empty() ? of_role.flag + name : asked_by,
                     std::string("found no such file and no ") + of_role.folder + "/" + name + of_role.extension +
                         (is_of_calibration ? kMakeLocal : "") + "; available: " + names_there(role) +
                         did_you_mean(name, {names.begin(), names.end()}));
}

std::set<std::string> input_names(const std::string& role) {
    const RoleFolder& of_role = folder_of(role);
    std::set<std::string> names;
    for (const fs::path& folder : data_folders()) {
        std::error_code status;
        for (const auto& entry : fs::directory_iterator(folder / of_role.folder, status)) {
            if (entry.path().extension() == of_role.extension) {
                names.insert(entry.path().stem().string());
            }
        }
    }
    return names;
}

bool is_inline(const std::string& name) { return name.starts_with('{'); }

std::string document_name(const std::string& role, const std::string& name) {
    return is_inline(name) ? role + " (inline)" : find_input(role, name);
}

namespace {

/// Of the folder of a stack's file, or else of the data folders.
models::LibraryLoader libraries_of(const std::string& stack, const std::string& file) {
    return [file, has_file = !is_inline(stack)](const std::string& name) {
        std::optional<JsonDocument> beside = has_file ? models::library_beside(file, name) : std::nullopt;
        return beside ? std::move(*beside)
                      : JsonDocument::load(
                            find_input("stack", name, file + ": $." + std::string(models::kCommunicationKey)));
    };
}

/// Settings that a stack would not read, because its release has them.
void refuse_shadowed(const JsonDocument& stack, const std::vector<std::string>& overrides,
                     std::string_view architecture) {
    for (const std::string& text : overrides) {
        const Override parts = split_override(text);
        const std::string own = parts.role == "stack" ? models::shadowing_path(stack, parts.path, architecture) : "";
        if (!own.empty()) {
            throw InputError("--set stack." + parts.path,
                             "found a key that the release in use has of its own; expected " + own);
        }
    }
}

/// As it is written.
JsonDocument written(const std::string& name, const std::string& file) {
    return is_inline(name)          ? JsonDocument::parse(name, file)
           : is_scenario_part(file) ? load_scenario_part(file)
                                    : JsonDocument::load(file);
}

JsonDocument load_for(const std::string& role, const std::string& name, const std::vector<std::string>& overrides,
                      std::string_view architecture) {
    const std::string file = document_name(role, name);
    JsonDocument document =
        interop::with_overrides(role, written(name, file), overrides, architecture, libraries_of(name, file));
    if (role == "stack") {
        refuse_shadowed(document, overrides, architecture);
    }
    if (role == "plan" && (value_set(overrides, role, "routing").has_value() ||
                           value_set(overrides, role, "routing.trace").has_value())) {
        take_trace_from(document, "");  // the loader would look for it beside the plan
    }
    return document;
}

}  // namespace

JsonDocument load_document(const std::string& role, const std::string& name,
                           const std::vector<std::string>& overrides) {
    return load_for(role, name, overrides, "");
}

JsonDocument load_stack_file(const std::string& name) { return written(name, document_name("stack", name)); }

JsonDocument load_stack_document(const std::string& name, const std::vector<std::string>& overrides,
                                 const models::Machine& machine) {
    return load_for("stack", name, overrides, machine.tile.architecture);
}

models::Stack load_stack(const std::string& name, const std::vector<std::string>& overrides,
                         const models::Machine& machine) {
    return models::load_stack(load_stack_document(name, overrides, machine), machine);
}

MachineAndStack load_machine_and_stack(const std::string& machine, const std::string& stack,
                                       const std::vector<std::string>& overrides) {
    JsonDocument document = load_document("machine", machine, overrides);
    JsonDocument stack_document = load_stack_document(stack, overrides, models::load_machine(document));
    return {std::move(document), std::move(stack_document)};
}

std::vector<models::PublishedSpread> published_spreads() {
    constexpr const char *kRole = "published-names", *kName = "spread";
    return input_names(kRole).contains(kName) ? models::load_spreads(JsonDocument::load(find_input(kRole, kName)))
                                              : std::vector<models::PublishedSpread>{};
}

}  // namespace auspex::launch
