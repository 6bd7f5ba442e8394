/// @file Documents with overrides.
#include "interop/overrides.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace auspex::interop {

Override split_override(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::size_t dot = text.find('.');
    if (equals == std::string::npos || dot > equals || dot == 0 || dot + 1 == equals) {
        throw InputError("--set " + text, "found no ROLE.PATH=VALUE; for example: --set plan.pp=4");
    }
    return {text.substr(0, dot), text.substr(dot + 1, equals - dot - 1), text.substr(equals + 1)};
}

namespace {

/// True if an override begins there: a role, a path, "=".
bool begins_override(std::string_view text) {
    constexpr std::string_view kOfPaths = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.[]";
    const bool has_role = std::ranges::any_of(std::array{"machine.", "stack.", "workload.", "plan."},
                                              [&](const char* role) { return text.starts_with(role); });
    const std::size_t end = text.find_first_not_of(kOfPaths);
    return has_role && end != std::string_view::npos && text[end] == '=';
}

}  // namespace

std::vector<std::string> split_overrides(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
        if (begins_override(std::string_view(text).substr(at + 1))) {
            parts.push_back(text.substr(begin, at - begin));
            begin = at + 1;
        }
    }
    parts.push_back(text.substr(begin));
    return parts;
}

std::optional<std::string> value_set(const std::vector<std::string>& overrides, const std::string& role,
                                     const std::string& path) {
    std::optional<std::string> value;
    for (const std::string& text : overrides) {
        if (const Override parts = split_override(text); parts.role == role && parts.path == path) {
            value = parts.value;
        }
    }
    return value;
}

void require_roles(const std::vector<std::string>& overrides, const std::vector<std::string>& roles) {
    for (const std::string& text : overrides) {
        const Override parts = split_override(text);
        if (std::find(roles.begin(), roles.end(), parts.role) == roles.end()) {
            std::string list;
            for (const std::string& role : roles) {
                list += (list.empty() ? "" : ", ") + role;
            }
            throw InputError("--set " + text, "found the role \"" + parts.role + "\"; expected one of " + list);
        }
    }
}

ImportedWorkload import_workload(JsonDocument config, const std::vector<std::string>& overrides) {
    std::vector<Override> of_workload;
    for (const std::string& text : overrides) {
        Override parts = split_override(text);
        const std::string key = parts.path.substr(0, parts.path.find('.'));
        if (parts.role != "workload") {
            continue;
        }
        if (key == "sequence_length" || config.root().find(key)) {
            config.set(parts.path, parts.value);
        } else if (const auto model = config.root().find("text_config"); model && model->find(key)) {
            config.set("text_config." + parts.path, parts.value);
        } else {
            of_workload.push_back(std::move(parts));
        }
    }
    ImportedWorkload imported = import_hugging_face(config);
    for (const Override& parts : of_workload) {
        imported.document.set(parts.path, parts.value);
    }
    return imported;
}

namespace {

/// The sections of its library are there to be overridden, too.
JsonDocument stack_in_full(JsonDocument stack, const std::vector<std::string>& overrides, std::string_view architecture,
                           const models::LibraryLoader& load_library) {
    const std::string part = std::string(models::kCommunicationKey) + ".";
    for (const std::string& text : overrides) {
        if (const Override parts = split_override(text); parts.role == "stack" && parts.path.starts_with(part)) {
            throw InputError("--set " + text, "found a part of communication; expected it whole: --set stack." +
                                                  std::string(models::kCommunicationKey) + "=" + parts.value);
        }
    }
    const std::optional<std::string> given = value_set(overrides, "stack", models::kCommunicationKey);
    if (given) {
        stack.set(models::kCommunicationKey, *given);
    }
    return models::with_communication(stack, architecture,
                                      given ? models::OwnCommunication::kReplaced : models::OwnCommunication::kRefused,
                                      load_library);
}

}  // namespace

JsonDocument with_overrides(const std::string& role, JsonDocument document, const std::vector<std::string>& overrides,
                            std::string_view architecture, const models::LibraryLoader& load_library) {
    if (role == "workload" && is_hugging_face(document)) {
        return import_workload(std::move(document), overrides).document;
    }
    if (role == "stack") {
        document = stack_in_full(std::move(document), overrides, architecture, load_library);
    }
    for (const std::string& text : overrides) {
        const Override parts = split_override(text);
        if (parts.role == role && !(role == "stack" && parts.path == models::kCommunicationKey)) {
            document.set(parts.path, parts.value);
        }
    }
    return document;
}

}  // namespace auspex::interop
