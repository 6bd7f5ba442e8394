/// @file The table of names, and which of its entries a case has.
#include "compare/evaluate/runs/run_names.hpp"

#include <algorithm>

#include "base/json.hpp"

namespace auspex::evaluate {
namespace {

std::string text_of(const JsonValue& object, std::string_view key) {
    const std::optional<JsonValue> found = object.find(key);
    return found ? found->as_string() : "";
}

std::vector<std::string> texts_of(const JsonValue& object, std::string_view key) {
    std::vector<std::string> texts;
    if (const std::optional<JsonValue> found = object.find(key)) {
        for (const JsonValue& one : found->elements()) {
            texts.push_back(one.as_string());
        }
    }
    return texts;
}

RunNames::Hardware read_hardware(const JsonValue& v) {
    v.allow_only({"gpu", "nics", "system", "machine", "set"});
    return {text_of(v, "gpu"), text_of(v, "nics"), text_of(v, "system"), v.at("machine").as_string(),
            texts_of(v, "set")};
}

RunNames::Framework read_framework(const JsonValue& v) {
    v.allow_only({"text", "source_key", "stack", "gradient_dtype", "expert_kernels", "dispatch",
                  "dispatch_between_nodes", "overlap", "overlap_sharded", "recompute_unstated", "most_virtual_stages",
                  "set"});
    RunNames::Framework framework;
    framework.text = text_of(v, "text");
    framework.source_key = text_of(v, "source_key");
    framework.stack = v.at("stack").as_string();
    framework.gradient_dtype = v.at("gradient_dtype").as_string();
    framework.expert_kernels = v.at("expert_kernels").as_string();
    framework.dispatch = v.at("dispatch").as_string();
    framework.dispatch_between_nodes = text_of(v, "dispatch_between_nodes");
    framework.overlap = texts_of(v, "overlap");
    framework.overlap_sharded = texts_of(v, "overlap_sharded");
    constexpr int kMost = 1000;
    if (const std::optional<JsonValue> most = v.find("most_virtual_stages")) {
        framework.most_virtual_stages = static_cast<int>(most->as_integer(1, kMost));
    }
    const JsonValue unstated = v.at("recompute_unstated");
    static_cast<void>(unstated.as_one_of({"none", "selective", "full"}));
    framework.recompute_unstated = unstated.as_string();
    framework.set = texts_of(v, "set");
    return framework;
}

RunNames::Fitted read_fitted(const JsonValue& v) {
    v.allow_only({"id", "source_key", "framework", "what"});
    return {text_of(v, "id"), text_of(v, "source_key"), text_of(v, "framework"), v.at("what").as_string()};
}

}  // namespace

RunNames load_run_names(const JsonDocument& document) {
    const JsonValue root = document.root();
    root.allow_only({"comment", "hardware", "frameworks", "fitted"});
    RunNames names;
    for (const JsonValue& one : root.at("hardware").elements()) {
        names.hardware.push_back(read_hardware(one));
    }
    for (const JsonValue& one : root.at("frameworks").elements()) {
        names.frameworks.push_back(read_framework(one));
    }
    for (const JsonValue& one : root.at("fitted").elements()) {
        names.fitted.push_back(read_fitted(one));
    }
    return names;
}

const RunNames::Hardware* hardware_of(const RunNames& names, const PublishedRun& run) {
    const auto found = std::ranges::find_if(names.hardware, [&](const RunNames::Hardware& one) {
        return run.gpu.starts_with(one.gpu) && run.nics.starts_with(one.nics) && run.system.starts_with(one.system);
    });
    return found == names.hardware.end() ? nullptr : &*found;
}

const RunNames::Framework* framework_of(const RunNames& names, const PublishedRun& run) {
    const auto found = std::ranges::find_if(names.frameworks, [&](const RunNames::Framework& one) {
        return run.framework.starts_with(one.text) && run.source_key.starts_with(one.source_key);
    });
    return found == names.frameworks.end() ? nullptr : &*found;
}

bool is_fitted(const RunNames& names, const PublishedRun& run) {
    return std::ranges::any_of(names.fitted, [&](const RunNames::Fitted& one) {
        return (one.id.empty() || one.id == run.id) && (one.source_key.empty() || one.source_key == run.source_key) &&
               (one.framework.empty() || run.framework.starts_with(one.framework));
    });
}

}  // namespace auspex::evaluate
