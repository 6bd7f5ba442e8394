/// @file The table of names, read from its file.
#include <optional>

#include "base/json.hpp"
#include "compare/evaluate/published_collectives.hpp"
#include "compare/evaluate/runs/run_names.hpp"
#include "models/plan.hpp"

namespace auspex::evaluate {
namespace {

RunNames::Hardware read_hardware(const JsonValue& v) {
    v.allow_only({"gpu", "nics", "system", "machine", "set", "note"});
    return {texts_in(v, "gpu"),    texts_in(v, "nics"), text_in(v, "system"),
            name_in(v, "machine"), texts_in(v, "set"),  text_in(v, "note")};
}

std::vector<std::vector<std::string>> read_choices(const JsonValue& list) {
    std::vector<std::vector<std::string>> choices;
    for (const JsonValue& choice : list.elements()) {
        static_cast<void>(models::read_recompute(choice));
        std::vector<std::string>& words = choices.emplace_back();
        for (const JsonValue& word : choice.elements()) {
            words.push_back(word.as_string());
        }
    }
    if (choices.empty()) {
        list.fail("one list of words at least");
    }
    return choices;
}

void read_capacity(const JsonValue& v, RunNames::Framework& framework) {
    constexpr double kLeast = 0.01, kMost = 1000;  // of workload.capacity_factor
    if (const std::optional<JsonValue> pads = v.find("pads_to_capacity")) {
        framework.pads_to_capacity = pads->as_bool();
    }
    if (const std::optional<JsonValue> factor = v.find("capacity_unstated")) {
        framework.capacity_unstated = factor->as_number(kLeast, kMost);
    }
}

RunNames::Framework read_framework(const JsonValue& v) {
    v.allow_only({"text",
                  "gpu",
                  "source_key",
                  "source",
                  "words",
                  "note",
                  "sharded_only",
                  "fp8",
                  "stack",
                  "gradient_dtype",
                  "expert_kernels",
                  "dispatch",
                  "dispatch_between_nodes",
                  "overlap",
                  "overlap_sharded",
                  "recompute_unstated",
                  "most_virtual_stages",
                  "sharded_with_stages",
                  "sharded_with_experts",
                  "pads_to_capacity",
                  "capacity_unstated",
                  "optimizer_unstated",
                  "micro_batch_per_stage",
                  "selective",
                  "recompute_choices",
                  "fp8_weights_only",
                  "set",
                  "set_compiled"});
    RunNames::Framework framework;
    framework.text = texts_in(v, "text");
    framework.gpu = texts_in(v, "gpu");
    framework.source = texts_in(v, "source");
    framework.source_key = text_in(v, "source_key");
    framework.words = texts_in(v, "words");
    framework.note = text_in(v, "note");
    framework.sharded_only = text_in(v, "sharded_only");
    if (const std::optional<JsonValue> recipe = v.find("fp8")) {
        static_cast<void>(recipe->as_one_of(models::kFp8Words));
        framework.fp8 = recipe->as_string();
    }
    framework.stack = name_in(v, "stack");
    framework.gradient_dtype = name_in(v, "gradient_dtype");
    framework.expert_kernels = name_in(v, "expert_kernels");
    framework.dispatch = name_in(v, "dispatch");
    framework.dispatch_between_nodes = text_in(v, "dispatch_between_nodes");
    framework.overlap = texts_in(v, "overlap");
    framework.overlap_sharded = texts_in(v, "overlap_sharded");
    constexpr int kMost = 1000;
    if (const std::optional<JsonValue> most = v.find("most_virtual_stages")) {
        framework.most_virtual_stages = static_cast<int>(most->as_integer(1, kMost));
    }
    framework.selective = v.find("selective") ? texts_in(v, "selective") : std::vector<std::string>{"core_attention"};
    const JsonValue unstated = v.at("recompute_unstated");
    static_cast<void>(unstated.as_one_of({"none", "selective", "full"}));
    framework.recompute_unstated = unstated.as_string();
    if (const std::optional<JsonValue> choices = v.find("recompute_choices")) {
        framework.recompute_choices = read_choices(*choices);
    }
    if (const std::optional<JsonValue> recipes = v.find("fp8_weights_only")) {
        for (const JsonValue& recipe : recipes->elements()) {
            static_cast<void>(recipe.as_one_of(models::kFp8Words));
            framework.fp8_weights_only.push_back(recipe.as_string());
        }
    }
    if (const std::optional<JsonValue> per_stage = v.find("micro_batch_per_stage")) {
        framework.micro_batch_per_stage = per_stage->as_bool();
    }
    if (v.find("optimizer_unstated")) {
        framework.optimizer_unstated = name_in(v, "optimizer_unstated");
    }
    if (v.find("sharded_with_experts")) {
        framework.sharded_with_experts = name_in(v, "sharded_with_experts");
    }
    framework.sharded_with_stages = text_in(v, "sharded_with_stages");
    read_capacity(v, framework);
    framework.set = texts_in(v, "set");
    framework.set_compiled = texts_in(v, "set_compiled");
    return framework;
}

RunNames::Unmapped read_unmapped(const JsonValue& v) {
    v.allow_only({"text", "gpu", "why"});
    RunNames::Unmapped unmapped{texts_in(v, "text"), texts_in(v, "gpu"), name_in(v, "why")};
    if (unmapped.text.empty() == unmapped.gpu.empty()) {
        v.fail("texts of frameworks, or of GPUs");
    }
    return unmapped;
}

RunNames::Correction read_correction(const JsonValue& v) {
    v.allow_only({"id", "source", "set", "why", "micro_batch"});
    RunNames::Correction correction{texts_in(v, "id"), texts_in(v, "source"), texts_in(v, "set"), name_in(v, "why")};
    if (const std::optional<JsonValue> sequences = v.find("micro_batch")) {
        constexpr int kMostSequences = 1 << 16;
        correction.micro_batch = static_cast<int>(sequences->as_integer(1, kMostSequences));
    }
    if (correction.id.empty() && correction.source.empty()) {
        v.fail("ids or sources of the cases that it corrects");
    }
    return correction;
}

/// All of what says how the constant would be without the cases, or none of it.
RunNames::Fitted read_fitted(const JsonValue& v) {
    v.allow_only({"id", "source_key", "framework", "source", "what", "stack", "machine", "constant", "without"});
    RunNames::Fitted fitted{text_in(v, "id"),      text_in(v, "source_key"), text_in(v, "framework"),
                            text_in(v, "source"),  name_in(v, "what"),       text_in(v, "stack"),
                            text_in(v, "machine"), text_in(v, "constant"),   text_in(v, "without")};
    const bool has_place = fitted.stack.empty() != fitted.machine.empty();
    const bool says_nothing =
        fitted.stack.empty() && fitted.machine.empty() && fitted.constant.empty() && fitted.without.empty();
    if (says_nothing) {
        return fitted;
    }
    if (!has_place || fitted.constant.empty()) {
        v.fail("with constant or without also the stack, or the machine, that has it, and both of them");
    }
    const std::string role = fitted.stack.empty() ? "machine." : "stack.";
    if (!fitted.constant.starts_with(role)) {
        v.at("constant").fail("a path that begins with " + role);
    }
    const std::string begin = fitted.constant + "=";
    if (!fitted.without.starts_with(begin) || fitted.without.size() == begin.size()) {
        v.fail("without " + begin + "VALUE");
    }
    return fitted;
}

RunNames::Reason read_reason(const JsonValue& v) {
    v.allow_only({"id", "source_key", "framework", "source", "why"});
    RunNames::Reason reason{text_in(v, "id"), text_in(v, "source_key"), text_in(v, "framework"), text_in(v, "source"),
                            name_in(v, "why")};
    if (reason.id.empty() && reason.source_key.empty() && reason.framework.empty() && reason.source.empty()) {
        v.fail("id, source_key, framework or source of the cases that it is a reason for");
    }
    return reason;
}

}  // namespace

RunNames load_run_names(const JsonDocument& document) {
    const JsonValue root = document.root();
    root.allow_only({"comment", "hardware", "frameworks", "unmapped", "corrections", "fitted", "reasons"});
    RunNames names;
    for (const JsonValue& one : root.at("hardware").elements()) {
        names.hardware.push_back(read_hardware(one));
    }
    for (const JsonValue& one : root.at("frameworks").elements()) {
        names.frameworks.push_back(read_framework(one));
    }
    if (const std::optional<JsonValue> unmapped = root.find("unmapped")) {
        for (const JsonValue& one : unmapped->elements()) {
            names.unmapped.push_back(read_unmapped(one));
        }
    }
    if (const std::optional<JsonValue> corrections = root.find("corrections")) {
        for (const JsonValue& one : corrections->elements()) {
            names.corrections.push_back(read_correction(one));
        }
    }
    for (const JsonValue& one : root.at("fitted").elements()) {
        names.fitted.push_back(read_fitted(one));
    }
    if (const std::optional<JsonValue> reasons = root.find("reasons")) {
        for (const JsonValue& one : reasons->elements()) {
            names.reasons.push_back(read_reason(one));
        }
    }
    return names;
}

}  // namespace auspex::evaluate
