/// @file Scenario files to flags, and back.
#include "launch/scenario.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace auspex::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kRoles{"machine", "stack", "workload", "plan"};
constexpr double kLargest = 1e30;
constexpr std::string_view kExtension = ".json";

bool is_role(std::string_view key) { return std::ranges::find(kRoles, key) != kRoles.end(); }

/// Where the file's name ends and the role of a part begins: "s.json" | "#plan/NAME.json".
std::size_t part_begin(const std::string& name) {
    for (const std::string_view role : kRoles) {
        const std::string mark = std::string(kExtension) + "#" + std::string(role) + "/";
        if (const std::size_t at = name.find(mark); at != std::string::npos) {
            return at + kExtension.size();
        }
    }
    return std::string::npos;
}

/// A name of data, or a path as seen from the working directory.
std::string file_of(const std::string& text, const fs::path& folder) {
    const bool is_path = text.find('/') != std::string::npos || text.ends_with(kExtension);
    return is_path && fs::path(text).is_relative() ? (folder / text).string() : text;
}

std::string input_of(const JsonValue& value, const std::string& role, const std::string& file) {
    if (value.is_string()) {
        return file_of(value.as_string(), fs::path(file).parent_path());
    }
    if (!value.is_object()) {
        value.fail("a name, a path, or an object with name and content");
    }
    value.allow_only({"name", "content"});
    const std::string name = value.at("name").as_string();
    if (name.empty() || name.find_first_of("/#") != std::string::npos) {
        value.at("name").fail("a name without / and #");
    }
    if (!value.at("content").is_object()) {
        value.at("content").fail("the input's own JSON object");
    }
    return file + "#" + role + "/" + name + std::string(kExtension);
}

/// A number, or a text such as "100B".
std::string word_of(const JsonValue& value) {
    if (value.is_string()) {
        return value.as_string();
    }
    static_cast<void>(value.as_number(0, kLargest));
    return value.dump();
}

/// One size, or several with commas between.
std::string sizes_of(const JsonValue& value) {
    if (!value.is_array()) {
        return word_of(value);
    }
    std::string words;
    for (const JsonValue& element : value.elements()) {
        words += (words.empty() ? "" : ",") + word_of(element);
    }
    return words;
}

/// {"plan.pp": 4} as --set has it.
std::vector<std::string> overrides_of(const JsonValue& value) {
    if (!value.is_object()) {
        value.fail("an object such as {\"plan.pp\": 4}");
    }
    std::vector<std::string> overrides;
    for (const std::string& key : value.keys()) {
        const JsonValue field = value.at(key);
        overrides.push_back(key + "=" + (field.is_string() ? field.as_string() : field.dump()));
    }
    return overrides;
}

}  // namespace

std::vector<ScenarioFlag> load_scenario(const std::string& file) {
    const JsonDocument document = JsonDocument::load(file);
    const JsonValue root = document.root();
    root.allow_only({"machine", "stack", "workload", "plan", "tiles", "nodes", "global_batch", "tokens", "set"});
    if (root.find("tiles") && root.find("nodes")) {
        root.at("nodes").fail("tiles or nodes, not both");
    }
    std::vector<ScenarioFlag> flags;
    for (const std::string& key : root.keys()) {
        const JsonValue value = root.at(key);
        if (is_role(key)) {
            flags.push_back({key, {input_of(value, key, file)}});
        } else if (key == "set") {
            flags.push_back({key, overrides_of(value)});
        } else if (key == "tiles" || key == "nodes") {
            flags.push_back({key, {sizes_of(value)}});
        } else if (key == "tokens") {
            flags.push_back({key, {word_of(value)}});
        } else if (key == "global_batch") {
            flags.push_back({"global-batch", {word_of(value)}});
        }
    }
    return flags;
}

bool is_scenario_part(const std::string& name) { return part_begin(name) != std::string::npos; }

JsonDocument load_scenario_part(const std::string& name) {
    const std::size_t begin = part_begin(name);
    const std::string file = name.substr(0, begin);
    const std::string role = name.substr(begin + 1, name.find('/', begin) - begin - 1);
    const JsonDocument scenario = JsonDocument::load(file);
    const std::string text = scenario.root().at(role).at("content").dump();
    JsonDocument part = JsonDocument::parse(text, name);
    if (role == "plan") {
        take_trace_from(part, fs::path(file).parent_path().string());
    }
    return part;
}

std::string scenario_text(const std::vector<ScenarioInput>& inputs,
                          const std::vector<std::pair<std::string, std::string>>& others) {
    std::string text = "{";
    for (const ScenarioInput& input : inputs) {
        text += (text.size() > 1 ? ", " : "") + json_quote(input.role) + ": {\"name\": " + json_quote(input.name) +
                ", \"content\": " + input.document->dump() + "}";
    }
    for (const auto& [key, value] : others) {
        text += (text.size() > 1 ? ", " : "") + json_quote(key) + ": " + value;
    }
    return JsonDocument::parse(text + "}", "scenario").indented() + "\n";
}

void take_trace_from(JsonDocument& plan, const std::string& folder) {
    const auto routing = plan.root().find("routing");
    const auto trace = routing && routing->is_object() ? routing->find("trace") : std::nullopt;
    if (!trace || !trace->is_string() || trace->as_string().empty()) {
        return;
    }
    std::error_code status;
    const fs::path file = fs::absolute(fs::path(folder) / trace->as_string(), status);
    if (!status) {
        plan.set("routing.trace", json_quote(file.string()));
    }
}

}  // namespace auspex::launch
