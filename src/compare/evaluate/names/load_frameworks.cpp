/// @file Frameworks: what they have in common, and what of that their releases have otherwise.
#include "compare/evaluate/names/load_frameworks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/json.hpp"
#include "compare/evaluate/published_collectives.hpp"
#include "models/plan.hpp"

namespace auspex::evaluate {
namespace {

using Families = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Of GPUs by their names.
Families read_families(const JsonValue& root) {
    Families families;
    if (const std::optional<JsonValue> found = root.find("families")) {
        for (const std::string& name : found->keys()) {
            families[name] = texts_in(*found, name);
        }
    }
    return families;
}

/// With the GPUs of families.
std::vector<std::string> gpus_in(const JsonValue& v, const Families& families) {
    std::vector<std::string> gpus;
    for (const std::string& text : texts_in(v, "gpu")) {
        const auto family = families.find(text);
        if (family == families.end()) {
            gpus.push_back(text);
        } else {
            gpus.insert(gpus.end(), family->second.begin(), family->second.end());
        }
    }
    return gpus;
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

void read_recompute_of(const JsonValue& v, RunNames::Framework& framework) {
    if (v.find("selective")) {
        framework.selective = texts_in(v, "selective");
    }
    if (const std::optional<JsonValue> unstated = v.find("recompute_unstated")) {
        static_cast<void>(unstated->as_one_of({"none", "selective", "full"}));
        framework.recompute_unstated = unstated->as_string();
    }
    if (const std::optional<JsonValue> choices = v.find("recompute_choices")) {
        framework.recompute_choices = read_choices(*choices);
    }
}

void read_fp8(const JsonValue& v, RunNames::Framework& framework) {
    if (const std::optional<JsonValue> recipe = v.find("fp8")) {
        static_cast<void>(recipe->as_one_of(models::kFp8Words));
        framework.fp8 = recipe->as_string();
    }
    if (const std::optional<JsonValue> recipes = v.find("fp8_weights_only")) {
        framework.fp8_weights_only.clear();
        for (const JsonValue& recipe : recipes->elements()) {
            static_cast<void>(recipe.as_one_of(models::kFp8Words));
            framework.fp8_weights_only.push_back(recipe.as_string());
        }
    }
}

/// What `plan` has replaces what is there.
void read_plan(const JsonValue& v, RunNames::Framework& framework) {
    v.allow_only({"fp8",
                  "gradient_dtype",
                  "expert_kernels",
                  "expert_kernels_dropping",
                  "dispatch",
                  "dispatch_between_nodes",
                  "overlap",
                  "overlap_sharded",
                  "overlap_stated",
                  "recompute_unstated",
                  "most_virtual_stages",
                  "sharded_with_stages",
                  "sharded_with_experts",
                  "pads_to_capacity",
                  "capacity_unstated",
                  "optimizer_unstated",
                  "offloads",
                  "micro_batch_per_stage",
                  "selective",
                  "recompute_choices",
                  "fp8_weights_only",
                  "experts_need_sequence_parallel",
                  "sequence_parallel_unstated"});
    const auto replace = [&v](std::string_view key, std::string& text) { text = v.find(key) ? name_in(v, key) : text; };
    replace("gradient_dtype", framework.gradient_dtype);
    replace("expert_kernels", framework.expert_kernels);
    replace("expert_kernels_dropping", framework.expert_kernels_dropping);
    replace("dispatch", framework.dispatch);
    replace("dispatch_between_nodes", framework.dispatch_between_nodes);
    replace("optimizer_unstated", framework.optimizer_unstated);
    replace("sharded_with_experts", framework.sharded_with_experts);
    replace("sharded_with_stages", framework.sharded_with_stages);
    if (v.find("overlap")) {
        framework.overlap = texts_in(v, "overlap");
    }
    if (v.find("overlap_sharded")) {
        framework.overlap_sharded = texts_in(v, "overlap_sharded");
    }
    if (v.find("overlap_stated")) {
        framework.overlap_stated = texts_in(v, "overlap_stated");
    }
    constexpr int kMost = 1000;
    if (const std::optional<JsonValue> most = v.find("most_virtual_stages")) {
        framework.most_virtual_stages = static_cast<int>(most->as_integer(1, kMost));
    }
    const auto replace_flag = [&v](std::string_view key, bool& flag) {
        const std::optional<JsonValue> found = v.find(key);
        flag = found ? found->as_bool() : flag;
    };
    replace_flag("offloads", framework.offloads);
    replace_flag("micro_batch_per_stage", framework.micro_batch_per_stage);
    replace_flag("experts_need_sequence_parallel", framework.experts_need_sequence_parallel);
    replace_flag("sequence_parallel_unstated", framework.sequence_parallel_unstated);
    read_recompute_of(v, framework);
    read_fp8(v, framework);
    read_capacity(v, framework);
}

/// `like`, `stack`, `note`, `set` and `plan` of a framework or a release, over what is there or what it is like: that
/// framework as it is without a version.
RunNames::Framework read_framework(const JsonValue& v, RunNames::Framework framework, const RunNames& names) {
    if (const std::optional<JsonValue> like = v.find("like")) {
        const std::string name = name_in(v, "like");
        const auto other = std::ranges::find(names.frameworks, name, &RunNames::NamedFramework::name);
        if (other == names.frameworks.end()) {
            like->fail("the name of a framework in front of it");
        }
        framework = other->framework;
    }
    framework.stack = v.find("stack") ? name_in(v, "stack") : framework.stack;
    if (v.find("note")) {
        framework.notes = {name_in(v, "note")};
    }
    if (v.find("set")) {
        framework.set = texts_in(v, "set");
    }
    if (const std::optional<JsonValue> plan = v.find("plan")) {
        read_plan(*plan, framework);
    }
    return framework;
}

std::optional<SoftwareVersion> read_bound(const JsonValue& v, bool is_date) {
    if (v.is_null()) {
        return std::nullopt;
    }
    const std::optional<SoftwareVersion> version = version_of(v.as_string());
    if (!version || version->is_date != is_date) {
        v.fail(is_date ? "a date as \"2025-04\", or null" : "a version as \"0.11\", or null");
    }
    return version;
}

std::optional<RunNames::VersionRange> read_range(const JsonValue& v, std::string_view key, bool is_date) {
    const std::optional<JsonValue> found = v.find(key);
    if (!found) {
        return std::nullopt;
    }
    const std::vector<JsonValue> bounds = found->elements();
    if (bounds.size() != 2) {
        found->fail("two bounds: the first version of the range, and the first behind it");
    }
    return RunNames::VersionRange{read_bound(bounds[0], is_date), read_bound(bounds[1], is_date)};
}

RunNames::Release read_release(const JsonValue& v, const RunNames::Framework& framework, const RunNames& names,
                               const Families& families) {
    v.allow_only({"numbers", "dates", "unstated", "sharded_weights", "gpu", "source", "words", "release",
                  "release_compiled", "like", "stack", "note", "set", "plan"});
    RunNames::Release release;
    release.numbers = read_range(v, "numbers", false);
    release.dates = read_range(v, "dates", true);
    if (const std::optional<JsonValue> unstated = v.find("unstated")) {
        release.is_unstated = unstated->as_bool();
    }
    if (const std::optional<JsonValue> sharded = v.find("sharded_weights")) {
        release.is_of_sharded_weights = sharded->as_bool();
    }
    release.gpu = gpus_in(v, families);
    release.source = texts_in(v, "source");
    release.words = texts_in(v, "words");
    release.release = text_in(v, "release");
    release.release_compiled = text_in(v, "release_compiled");
    release.framework = read_framework(v, framework, names);
    return release;
}

/// Some release has to be left for every case.
void require_one_for_all(const JsonValue& v, const std::vector<RunNames::Release>& releases) {
    const bool is_there = std::ranges::any_of(releases, [](const RunNames::Release& one) {
        return one.gpu.empty() && one.source.empty() && one.words.empty() && !one.is_of_sharded_weights &&
               (!one.has_versions() || one.is_unstated);
    });
    if (!is_there) {
        v.fail("one for cases that say no version, on any GPU: without numbers and dates, or with unstated");
    }
}

RunNames::NamedFramework read_named(const JsonValue& v, const RunNames& names, const Families& families) {
    v.allow_only({"name", "texts", "over", "versions_of", "date_of_source", "sharded_only", "like", "stack", "note",
                  "set", "plan", "release", "release_compiled", "releases"});
    RunNames::NamedFramework named;
    named.name = name_in(v, "name");
    named.texts = texts_in(v, "texts");
    named.over = texts_in(v, "over");
    named.versions_of = texts_in(v, "versions_of");
    if (const std::optional<JsonValue> dated = v.find("date_of_source")) {
        named.is_dated_by_source = dated->as_bool();
    }
    named.sharded_only = text_in(v, "sharded_only");
    named.framework = read_framework(v, {}, names);
    for (const auto& [key, text] :
         {std::pair("stack", &named.framework.stack), std::pair("gradient_dtype", &named.framework.gradient_dtype),
          std::pair("expert_kernels", &named.framework.expert_kernels),
          std::pair("dispatch", &named.framework.dispatch),
          std::pair("recompute_unstated", &named.framework.recompute_unstated)}) {
        if (text->empty()) {
            v.fail(std::string("a framework with ") + key + " of its own or of one that it is like");
        }
    }
    if (const std::optional<JsonValue> releases = v.find("releases")) {
        for (const JsonValue& one : releases->elements()) {
            named.releases.push_back(read_release(one, named.framework, names, families));
        }
        require_one_for_all(*releases, named.releases);
    } else {
        RunNames::Release& only = named.releases.emplace_back();
        only.release = text_in(v, "release"), only.release_compiled = text_in(v, "release_compiled");
        only.framework = named.framework;
    }
    return named;
}

RunNames::OnGpus read_on_gpus(const JsonValue& v, const Families& families) {
    v.allow_only({"stacks", "gpu", "words", "denied", "set", "why"});
    static_cast<void>(v.at("stacks"));
    return {texts_in(v, "stacks"), gpus_in(v, families), texts_in(v, "words"),
            texts_in(v, "denied"), texts_in(v, "set"),   name_in(v, "why")};
}

}  // namespace

void load_frameworks(const JsonValue& root, RunNames& names) {
    const Families families = read_families(root);
    for (const JsonValue& one : root.at("frameworks").elements()) {
        names.frameworks.push_back(read_named(one, names, families));
    }
    for (const RunNames::NamedFramework& one : names.frameworks) {
        for (const std::string& other : one.over) {
            if (std::ranges::find(names.frameworks, other, &RunNames::NamedFramework::name) == names.frameworks.end()) {
                root.at("frameworks").fail("names of frameworks in over; found " + json_quote(other));
            }
        }
    }
    if (const std::optional<JsonValue> on_gpus = root.find("on_gpus")) {
        for (const JsonValue& one : on_gpus->elements()) {
            names.on_gpus.push_back(read_on_gpus(one, families));
        }
    }
}

}  // namespace auspex::evaluate
