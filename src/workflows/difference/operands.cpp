/// @file Kinds of arguments.
#include "workflows/difference/operands.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text/closest_word.hpp"
#include "interop/hugging_face.hpp"
#include "launch/input_files.hpp"

namespace auspex::workflows {
namespace {

constexpr std::array<const char*, 4> kRoles{"machine", "stack", "workload", "plan"};
constexpr const char* kExpected =
    "expected what auspex predict --json printed, or a machine, stack, workload or plan, by file or name";

/// "a plan or a workload".
std::string list_of(const std::set<std::string>& roles, const std::string& before, const std::string& between) {
    std::string text;
    for (const std::string& role : roles) {
        text += (text.empty() ? "" : between) + before + (role == "result" ? "saved result" : role);
    }
    return text;
}

/// What an argument can be: one kind by its content, or all whose folders have the name.
std::set<std::string> roles_of(const std::string& argument) {
    if (launch::is_inline(argument)) {
        return {kind_of(JsonDocument::parse(argument, "inline"))};
    }
    const bool is_path = argument.find('/') != std::string::npos || argument.ends_with(".json");
    std::set<std::string> roles;
    std::vector<std::string> names;
    for (const char* role : kRoles) {
        const std::set<std::string> known = launch::input_names(role);
        names.insert(names.end(), known.begin(), known.end());
        if (!is_path && known.contains(argument)) {
            roles.insert(role);
        }
    }
    std::error_code status;
    if (roles.empty() && !is_path && !std::filesystem::exists(argument, status)) {
        throw InputError(argument,
                         std::string("found no such file, and no machine, stack, workload or plan of this name; ") +
                             kExpected + did_you_mean(argument, names));
    }
    return roles.empty() ? std::set{kind_of(JsonDocument::load(argument))} : roles;
}

}  // namespace

std::string kind_of(const JsonDocument& document) {
    const JsonValue root = document.root();
    const auto has_one_of = [&](std::initializer_list<const char*> keys) {
        return std::ranges::any_of(keys, [&](const char* key) { return root.find(key).has_value(); });
    };
    if (!root.is_object()) {
        root.fail("an object: " + std::string(kExpected).substr(std::string("expected ").size()));
    }
    if (has_one_of({"step_time_s"})) {
        return "result";
    }
    if (has_one_of({"fabric", "reliability"})) {
        return "machine";
    }
    if (has_one_of({"transport", "kernels"})) {
        return "stack";
    }
    if (has_one_of({"hidden_size"}) || interop::is_hugging_face(document)) {
        return "workload";
    }
    if (has_one_of({"pp", "dp", "ep", "tp", "micro_batches", "micro_batch_size", "schedule", "recompute"})) {
        return "plan";
    }
    throw InputError(document.name() + ": $", std::string("found keys of nothing that is known; ") + kExpected);
}

Operands operands_of(const std::string& before, const std::string& after, const std::set<std::string>& given) {
    const std::set<std::string> old_roles = roles_of(before), new_roles = roles_of(after);
    std::set<std::string> common, open;
    std::ranges::set_intersection(old_roles, new_roles, std::inserter(common, common.end()));
    if (common.empty()) {
        throw InputError("auspex diff", before + " is a " + list_of(old_roles, "", " or a ") + ", " + after + " a " +
                                            list_of(new_roles, "", " or a ") + "; expected two of one kind");
    }
    std::ranges::set_difference(common, given, std::inserter(open, open.end()));
    if (open.size() == 1) {
        const std::string role = *open.begin();
        std::set<std::string> others = common;
        others.erase(role);
        return {role, others.empty() ? ""
                                     : "both names are of a " + list_of(common, "", " and a ") + ": taken as " + role +
                                           "s, for " + list_of(others, "--", " and ") + " is given"};
    }
    if (open.empty()) {
        throw InputError("auspex diff", "found two " + list_of(common, "", "s or ") + "s and " +
                                            list_of(common, "--", " and ") + ", too; expected no flag of what differs");
    }
    throw InputError("auspex diff", before + " and " + after + " are both names of a " +
                                        list_of(common, "", " and of a ") + "; expected " +
                                        list_of(common, "--", " or ") +
                                        ", which says what they share, so that the other is what differs");
}

}  // namespace auspex::workflows
