#pragma once
/// @file Sessions over the repository's files.
#include <filesystem>
#include <set>
#include <string>

#include "explore/answer.hpp"
#include "explore/session.hpp"
#include "launch/input_files.hpp"

namespace auspex::explore {

inline Library library_of_the_repository() {
    return {[](const std::string& role) { return launch::input_names(role); },
            [](const std::string& role, const std::string& name) {
                return role == "stack" ? launch::load_stack_file(name) : launch::load_document(role, name, {});
            }};
}

/// A request with `more` members behind those of the state: "\"set\":[\"plan.pp=4\"]".
inline std::string request_of(const std::string& ask, const std::string& workload, int tiles,
                              const std::string& more = "") {
    return "{\"ask\":\"" + ask + "\",\"machine\":\"aurora\",\"stack\":\"optimus\",\"workload\":\"" + workload +
           "\",\"plan\":\"" + workload + "\",\"tiles\":" + std::to_string(tiles) + (more.empty() ? "" : "," + more) +
           "}";
}

inline std::string set_of(const std::vector<std::string>& overrides) {
    std::string list;
    for (const std::string& text : overrides) {
        list += (list.empty() ? "" : ",") + json_quote(text);
    }
    return "\"set\":[" + list + "]";
}

}  // namespace auspex::explore
