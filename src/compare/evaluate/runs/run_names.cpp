/// @file The table of names, and which of its entries a case has.
#include "compare/evaluate/runs/run_names.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/published_collectives.hpp"
#include "models/plan.hpp"

namespace auspex::evaluate {
namespace {

/// Small letters without blanks and hyphens, nor the makers' names in front.
std::string plain(std::string_view text) {
    std::string letters;
    for (const char c : text) {
        if (c != ' ' && c != '-' && c != '_') {
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    for (const std::string_view maker : {"nvidia", "amd", "instinct", "intel"}) {
        letters = letters.starts_with(maker) ? letters.substr(maker.size()) : letters;
    }
    return letters;
}

/// The text begins so, and no digit follows at once: an H1000 is no H100, an H100 80GB is one.
bool begins_with(std::string_view text, const std::string& beginning) {
    const std::string wanted = plain(beginning);
    if (!plain(text).starts_with(wanted)) {
        return false;
    }
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t end = 1;
    while (end < text.size() && !plain(text.substr(0, end)).starts_with(wanted)) {
        ++end;
    }
    return end >= text.size() || !is_digit(text[end - 1]) || !is_digit(text[end]);
}

bool begins_with_any(const std::string& text, const std::vector<std::string>& beginnings) {
    return beginnings.empty() ||
           std::ranges::any_of(beginnings, [&](const std::string& beginning) { return begins_with(text, beginning); });
}

bool contains_any(const std::string& text, const std::vector<std::string>& parts) {
    return parts.empty() ||
           std::ranges::any_of(parts, [&](const std::string& part) { return text.find(part) != std::string::npos; });
}

RunNames::Hardware read_hardware(const JsonValue& v) {
    v.allow_only({"gpu", "nics", "system", "machine", "set"});
    return {texts_in(v, "gpu"), texts_in(v, "nics"), text_in(v, "system"), name_in(v, "machine"), texts_in(v, "set")};
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

/// Texts that an entry leaves out fit every case.
template <typename Entry>
bool fits(const Entry& one, const PublishedRun& run) {
    return (one.id.empty() || one.id == run.id) && (one.source_key.empty() || one.source_key == run.source_key) &&
           (one.framework.empty() || run.framework.starts_with(one.framework)) &&
           run.source.find(one.source) != std::string::npos;
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
            one.allow_only({"text", "why"});
            names.unmapped.push_back({texts_in(one, "text"), name_in(one, "why")});
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

const RunNames::Hardware* hardware_of(const RunNames& names, const PublishedRun& run) {
    const auto found = std::ranges::find_if(names.hardware, [&](const RunNames::Hardware& one) {
        return begins_with_any(run.gpu, one.gpu) && begins_with_any(run.nics, one.nics) &&
               run.system.starts_with(one.system);
    });
    return found == names.hardware.end() ? nullptr : &*found;
}

namespace {

/// The rest of a name from its next word on; empty: it was the last. Hyphens do not part words.
std::string_view next_word(std::string_view name) {
    constexpr std::string_view kBetween = " +/(),;:&";
    const std::size_t end = name.find_first_of(kBetween);
    const std::size_t begin = end == std::string_view::npos ? end : name.find_first_not_of(kBetween, end);
    return begin == std::string_view::npos ? "" : name.substr(begin);
}

const RunNames::Unmapped* unmapped_of(const RunNames& names, const PublishedRun& run) {
    for (std::string_view name = run.framework; !name.empty(); name = next_word(name)) {
        const auto found = std::ranges::find_if(names.unmapped, [&](const RunNames::Unmapped& one) {
            return !one.text.empty() && begins_with_any(std::string(name), one.text);
        });
        if (found != names.unmapped.end()) {
            return &*found;
        }
    }
    return nullptr;
}

/// `"A", "B"`, each once.
std::string quoted_list(const std::vector<std::string>& words) {
    std::string list;
    for (auto word = words.begin(); word != words.end(); ++word) {
        if (std::find(words.begin(), word, *word) == word) {
            list += (list.empty() ? "" : ", ") + json_quote(*word);
        }
    }
    return list;
}

template <typename Entry>
std::vector<std::string> all_texts(const std::vector<Entry>& entries, std::vector<std::string> Entry::*texts) {
    std::vector<std::string> all;
    for (const Entry& entry : entries) {
        all.insert(all.end(), (entry.*texts).begin(), (entry.*texts).end());
    }
    return all;
}

}  // namespace

const RunNames::Framework* framework_of(const RunNames& names, const PublishedRun& run) {
    if (unmapped_of(names, run) != nullptr) {
        return nullptr;
    }
    for (std::string_view name = run.framework; !name.empty(); name = next_word(name)) {
        const auto found = std::ranges::find_if(names.frameworks, [&](const RunNames::Framework& one) {
            return begins_with_any(std::string(name), one.text) && begins_with_any(run.gpu, one.gpu) &&
                   run.source_key.starts_with(one.source_key) &&
                   (contains_any(run.source, one.source) || contains_any(run.framework, one.source));
        });
        if (found != names.frameworks.end()) {
            return &*found;
        }
    }
    return nullptr;
}

void refuse_unmapped(const RunNames& names, const PublishedRun& run) {
    if (hardware_of(names, run) == nullptr) {
        throw InputError(run.id, "found GPU " + json_quote(run.gpu) +
                                     ", which no machine here has; expected one that begins with " +
                                     quoted_list(all_texts(names.hardware, &RunNames::Hardware::gpu)));
    }
    const RunNames::Unmapped* const known = unmapped_of(names, run);
    throw InputError(run.id,
                     "found framework " + json_quote(run.framework) + ", which no stack here is" +
                         (known != nullptr ? ": " + known->why
                                           : "; expected one with a word that begins with " +
                                                 quoted_list(all_texts(names.frameworks, &RunNames::Framework::text))));
}

std::vector<const RunNames::Correction*> corrections_of(const RunNames& names, const PublishedRun& run) {
    std::vector<const RunNames::Correction*> found;
    for (const RunNames::Correction& one : names.corrections) {
        const bool has_id = one.id.empty() || std::ranges::find(one.id, run.id) != one.id.end();
        if (has_id && contains_any(run.source, one.source)) {
            found.push_back(&one);
        }
    }
    return found;
}

PublishedRun corrected(const RunNames& names, PublishedRun run) {
    for (const RunNames::Correction* const one : corrections_of(names, run)) {
        if (one->micro_batch > 0 && run.plan.micro_batch > 0) {
            run.plan.global_batch = run.plan.global_batch / run.plan.micro_batch * one->micro_batch;
            run.plan.micro_batch = one->micro_batch;
        }
    }
    return run;
}

bool is_fitted(const RunNames& names, const PublishedRun& run) {
    return std::ranges::any_of(names.fitted, [&](const RunNames::Fitted& one) { return fits(one, run); });
}

std::string reason_of(const RunNames& names, const PublishedRun& run) {
    const auto found = std::ranges::find_if(names.reasons, [&](const RunNames::Reason& one) { return fits(one, run); });
    return found == names.reasons.end() ? "" : found->why;
}

}  // namespace auspex::evaluate
