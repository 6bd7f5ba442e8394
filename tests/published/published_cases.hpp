#pragma once
/// @file How tests read the JSON files of what others have measured.
#include <string>
#include <string_view>

#include "../sim/step_fixture.hpp"
#include "base/json.hpp"

namespace auspex::testing_published {

/// `folder`/`name`.json, which has to say where its numbers are from.
inline JsonDocument cases(const std::string& name, const std::string& folder = "tests/published") {
    JsonDocument document = testing_plans::document(folder, name);
    const JsonValue source = document.root().at("source"), url = document.root().at("url");
    if (source.as_string().empty()) {
        source.fail("where the numbers are from");
    }
    if (!url.as_string().starts_with("https://")) {
        url.fail("an address that begins with https://");
    }
    return document;
}

/// On the machine and the stack that `root` names.
inline models::Inputs inputs_of(const JsonValue& root, const std::string& workload, const std::string& plan) {
    using testing_plans::document;
    JsonDocument stack = testing_plans::file("stacks", root.at("stack").as_string());
    if (const auto release = root.find("release")) {
        stack.set("releases.use", release->dump());
    }
    return models::load_inputs(document("machines", root.at("machine").as_string()), stack,
                               document("workloads", workload), document("plans", plan));
}

inline double number(const JsonValue& parent, std::string_view key) { return parent.at(key).as_number(0, 1e12); }
inline int integer(const JsonValue& parent, std::string_view key) {
    return static_cast<int>(parent.at(key).as_integer(1, 1'000'000));
}

}  // namespace auspex::testing_published
