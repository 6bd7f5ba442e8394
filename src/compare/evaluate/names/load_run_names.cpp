/// @file The table of names, read from its file.
#include <optional>

#include "base/json.hpp"
#include "compare/evaluate/names/load_frameworks.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published_collectives.hpp"

namespace auspex::evaluate {
namespace {

std::optional<RunNames::SizeRange> read_memory(const JsonValue& v) {
    const std::optional<JsonValue> found = v.find("memory");
    if (!found) {
        return std::nullopt;
    }
    constexpr double kMost = 1e4;
    const std::vector<JsonValue> bounds = found->elements();
    if (bounds.size() != 2 || bounds[0].as_number(1, kMost) > bounds[1].as_number(1, kMost)) {
        found->fail("the least and the most GB that a text may give");
    }
    return RunNames::SizeRange{bounds[0].as_number(1, kMost), bounds[1].as_number(1, kMost)};
}

RunNames::Hardware read_hardware(const JsonValue& v) {
    v.allow_only({"gpu", "memory", "system", "machine", "set", "node", "host_is_near", "note", "note_unstated"});
    RunNames::Hardware hardware;
    hardware.gpu = texts_in(v, "gpu"), hardware.memory = read_memory(v), hardware.system = text_in(v, "system");
    hardware.machine = name_in(v, "machine"), hardware.set = texts_in(v, "set");
    if (const auto near = v.find("host_is_near")) {
        hardware.host_is_near = near->as_bool();
    }
    hardware.note = text_in(v, "note"), hardware.note_unstated = text_in(v, "note_unstated");
    if (const std::optional<JsonValue> node = v.find("node")) {
        constexpr int kMost = 1024;
        constexpr double kMostRate = 1e5;
        node->allow_only({"gpus", "nics", "gbit_s", "payload", "gpus_per_socket", "whole_rack"});
        const auto count = [&](std::string_view key) { return static_cast<int>(node->at(key).as_integer(1, kMost)); };
        hardware.node = RunNames::Hardware::Node{.gpus = count("gpus"),
                                                 .nics = count("nics"),
                                                 .gbit_s = node->at("gbit_s").as_number(1, kMostRate),
                                                 .payload = node->at("payload").as_number(0.1, 1),
                                                 .gpus_per_socket = count("gpus_per_socket"),
                                                 .whole_rack = node->find("whole_rack") ? count("whole_rack") : 0};
    }
    return hardware;
}

RunNames::Unmapped read_unmapped(const JsonValue& v) {
    v.allow_only({"text", "gpu", "cards", "memory", "why"});
    RunNames::Unmapped unmapped{texts_in(v, "text"), texts_in(v, "gpu"), texts_in(v, "cards"), read_memory(v),
                                name_in(v, "why")};
    if (!unmapped.text.empty() + !unmapped.gpu.empty() + !unmapped.cards.empty() != 1) {
        v.fail("texts of frameworks, of GPUs, or of cards");
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

/// Both the file and its constants as they would be without the cases, or neither.
RunNames::Fitted read_fitted(const JsonValue& v) {
    v.allow_only({"id", "source_key", "framework", "source", "what", "stack", "machine", "without"});
    RunNames::Fitted fitted{texts_in(v, "id"),     text_in(v, "source_key"), text_in(v, "framework"),
                            text_in(v, "source"),  name_in(v, "what"),       text_in(v, "stack"),
                            text_in(v, "machine"), texts_in(v, "without")};
    const bool has_place = fitted.stack.empty() != fitted.machine.empty();
    const bool has_both = !fitted.stack.empty() && !fitted.machine.empty();
    if (has_both || has_place == fitted.without.empty()) {
        v.fail("both of without and the stack, or the machine, that has the constants, or neither");
    }
    const std::string role = fitted.stack.empty() ? "machine." : "stack.";
    for (const std::string& text : fitted.without) {
        const std::size_t end = text.find('=');
        if (!text.starts_with(role) || end == std::string::npos || end + 1 == text.size()) {
            v.at("without").fail("texts " + role + "PATH=VALUE");
        }
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
    root.allow_only(
        {"comment", "hardware", "families", "on_gpus", "frameworks", "unmapped", "corrections", "fitted", "reasons"});
    RunNames names;
    for (const JsonValue& one : root.at("hardware").elements()) {
        names.hardware.push_back(read_hardware(one));
    }
    load_frameworks(root, names);
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
