/// @file Reads --plans, --workload and layouts files.
#include "workflows/compare/wanted_layouts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "launch/input_files.hpp"
#include "models/plan.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;

/// The value as JSON text.
std::string json_text(const JsonValue& value) {
    constexpr double kMax = std::numeric_limits<double>::max();
    if (value.is_string()) {
        return json_quote(value.as_string());
    }
    if (value.is_bool()) {
        return value.as_bool() ? "true" : "false";
    }
    if (value.is_number()) {
        const double number = value.as_number(-kMax, kMax);
        return number == std::round(number) && std::abs(number) < 1e15
                   ? std::to_string(static_cast<std::int64_t>(number))
                   : json_number(number);
    }
    const bool is_array = value.is_array();
    if (!is_array && !value.is_object()) {
        return "null";
    }
    std::string text;
    if (is_array) {
        for (const JsonValue& element : value.elements()) {
            text += (text.empty() ? "" : ", ") + json_text(element);
        }
    } else {
        for (const std::string& key : value.keys()) {
            text += (text.empty() ? "" : ", ") + json_quote(key) + ": " + json_text(value.at(key));
        }
    }
    return is_array ? "[" + text + "]" : "{" + text + "}";
}

constexpr std::size_t kLongestName = 100;

void require_file_name(const JsonValue& name) {
    const std::string text = name.as_string();
    constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (text.empty() || text.size() > kLongestName || text.front() == '.' ||
        text.find_first_not_of(kAllowed) != std::string::npos) {
        name.fail("letters, digits, dashes, underscores and dots, " + std::to_string(kLongestName) + " at most");
    }
}

/// A file for each layout's plan, in SCRATCH/layouts/WORKLOAD.
void add_layouts(const std::string& file, const std::string& scratch, std::vector<WantedLayout>& wanted) {
    const JsonDocument document = JsonDocument::load(file);
    const JsonValue root = document.root();
    root.allow_only({"source", "workloads", "layouts"});
    std::vector<std::string> all;
    for (const JsonValue& workload : root.at("workloads").elements()) {
        all.push_back(workload.as_string());
        require_short_name(name_of(all.back()), workload.where());
    }
    for (const JsonValue& layout : root.at("layouts").elements()) {
        layout.allow_only({"name", "workload", "plan"});
        require_file_name(layout.at("name"));
        const std::string name = layout.at("name").as_string(), text = json_text(layout.at("plan"));
        static_cast<void>(models::load_plan(JsonDocument::parse(text, file + ", layout " + name)));
        const auto one = layout.find("workload");
        if (one && std::find(all.begin(), all.end(), one->as_string()) == all.end()) {
            one->fail("one of \"workloads\"");
        }
        for (const std::string& workload : one ? std::vector{one->as_string()} : all) {
            const fs::path folder = fs::path(scratch) / "layouts" / name_of(workload);
            std::error_code status;
            fs::create_directories(folder, status);
            const std::string plan = (folder / (name + ".json")).string();
            write_file(plan, text);
            wanted.push_back({plan, workload, file, file, true});
        }
    }
}

/// PLAN@WORKLOAD; a plan's path may have an "@", too.
WantedLayout split(const std::string& text, const std::string& from) {
    const std::size_t at = text.rfind('@');
    WantedLayout one{text.substr(0, at), text.substr(at + 1), from, from, true};
    if (one.plan.empty() || one.workload.empty()) {
        throw InputError(from, std::string("found no ") + (one.plan.empty() ? "plan before" : "workload behind") +
                                   " \"@\"; expected PLAN@WORKLOAD");
    }
    return one;
}

void add_plans(const CompareRequest& request, std::vector<WantedLayout>& wanted) {
    std::error_code status;
    for (const std::string& plan : request.plans) {
        const std::string from = "--plans " + plan;
        if (plan.empty()) {
            throw InputError("--plans", "found an empty name; expected plans, or PLAN@WORKLOAD");
        }
        if (plan.find('@') != std::string::npos && !fs::is_regular_file(plan, status)) {
            wanted.push_back(split(plan, from));
            continue;
        }
        for (const std::string& workload : request.workloads) {
            if (workload.empty()) {
                throw InputError("--workload", "found an empty name; expected workloads");
            }
            wanted.push_back({plan, workload, from, "--workload " + workload, request.workloads.size() == 1});
        }
    }
}

}  // namespace

std::string name_of(const std::string& file) { return fs::path(file).stem().string(); }

void require_short_name(const std::string& name, const std::string& from) {
    if (name.empty() || name.size() > kLongestName) {
        throw InputError(from, "found the name \"" + printable(name) + "\" of " + std::to_string(name.size()) +
                                   " characters; expected 1 to " + std::to_string(kLongestName));
    }
}

std::vector<WantedLayout> wanted_layouts(const CompareRequest& request, const std::string& scratch) {
    std::vector<WantedLayout> wanted;
    add_plans(request, wanted);
    if (!request.layouts.empty()) {
        add_layouts(launch::find_input("layouts", request.layouts), scratch, wanted);
    }
    return wanted;
}

}  // namespace auspex::workflows
