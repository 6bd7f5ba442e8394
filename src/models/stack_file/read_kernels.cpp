/// @file Kernels of a framework, key by key from its release or for all of them.
#include "models/stack_file/read_kernels.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "models/attention/attention_kernel.hpp"
#include "models/flag_words.hpp"
#include "models/machine.hpp"
#include "models/stack_file/stack_values.hpp"

namespace auspex::models {
namespace {

/// A section, and keys of it that stand elsewhere.
struct Overlaid {
    JsonValue base;
    std::optional<JsonValue> over;

    /// The object that has the key, if any has.
    [[nodiscard]] const JsonValue& of(std::string_view key) const { return over && over->find(key) ? *over : base; }
    [[nodiscard]] Overlaid section(std::string_view key) const {
        return {base.at(key), over ? over->find(key) : std::nullopt};
    }
    void allow_only(std::initializer_list<std::string_view> keys) const {
        base.allow_only(keys);
        if (over) {
            over->allow_only(keys);
        }
    }
};

void read_counts(const Overlaid& section, KernelCounts& counts) {
    section.allow_only({"norm", "rms_norm", "qk_norm", "rope", "residual", "activation", "router_topk", "cross_entropy",
                        "embedding", "gradient_accumulation", "attention", "optimizer"});
    const auto count = [&](std::string_view key, std::int64_t low) { return read_count(section.of(key), key, low); };
    counts.norm = count("norm", 1);
    counts.rms_norm = section.of("rms_norm").find("rms_norm") ? count("rms_norm", 1) : 0;
    counts.qk_norm = count("qk_norm", 1);
    counts.rope = count("rope", 1);
    counts.residual = count("residual", 1);
    counts.activation = count("activation", 1);
    counts.router_topk = count("router_topk", 1);
    counts.cross_entropy = count("cross_entropy", 1);
    counts.embedding = count("embedding", 1);
    counts.gradient_accumulation = count("gradient_accumulation", 0);
    counts.attention = count("attention", 1);
    counts.optimizer = count("optimizer", 1);
}

/// Names of attention kernels, each once.
std::vector<std::string> read_names(const JsonValue& list) {
    std::vector<std::string> names;
    for (const JsonValue& element : list.elements()) {
        const std::string name = element.as_string();
        if (!is_attention_kernel_name(name) || std::ranges::find(names, name) != names.end()) {
            element.fail(
                "the name of a kernel as a machine's tile.attention_kernels has it, in letters, digits and "
                "hyphens, each once");
        }
        names.push_back(name);
    }
    if (names.empty()) {
        list.fail("at least one name; a stack that has none leaves out the key");
    }
    return names;
}

/// Where kernels have names, "unfused" alone takes several passes: the count is of these.
void set_attention_passes(const JsonValue& count, Stack& stack) {
    const std::vector<std::string>& names = stack.attention_kernels;
    const bool has_unfused = std::ranges::find(names, kUnfusedAttention) != names.end();
    if (has_unfused && stack.kernels.attention < 2) {
        count.fail("2 at least where attention_kernels has \"unfused\", whose scores go through memory");
    }
    if (!names.empty() && !has_unfused) {
        stack.kernels.attention = 1;
    }
}

}  // namespace

void read_kernels(const JsonValue& base, const std::optional<JsonValue>& release, Stack& stack) {
    const Overlaid section{base, release};
    section.allow_only({"launch", "issue", "plain_issue", "host_sync", "backward_launch_ratio", "gemm_efficiency",
                        "attention_kernels", "attention_efficiency", "step_host", "counts", "keeps",
                        "cross_entropy_copies", "weights_in_activation", "products_by_expert", "biases_by_expert",
                        "issues_each_expert", "dispatches_by_masks", "allocator", "accumulation_exposed"});
    const auto has = [&](std::string_view key) { return section.of(key).find(key).has_value(); };
    const auto time = [&](std::string_view key) { return read_time(section.of(key), key, stack); };
    stack.launch_s = time("launch");
    stack.issue_s = read_time_or_none(section.of("issue"), "issue", stack);
    stack.plain_issue_s =
        has("plain_issue") ? read_time(section.of("plain_issue"), "plain_issue", stack) : stack.issue_s;
    stack.issues_each_expert = read_flag(section.of("issues_each_expert"), "issues_each_expert");
    stack.host_sync_s = time("host_sync");
    constexpr std::string_view kRatio = "backward_launch_ratio";
    stack.backward_launch_ratio =
        read_constant(section.of(kRatio), kRatio, Dimension::kNone, 0.1, 10, kStackRole, stack.constants);
    stack.gemm_efficiency = read_fraction(section.of("gemm_efficiency"), "gemm_efficiency", stack);
    if (has("attention_kernels")) {
        stack.attention_kernels = read_names(section.of("attention_kernels").at("attention_kernels"));
    }
    if (has("attention_efficiency")) {
        stack.attention_efficiency = read_fraction(section.of("attention_efficiency"), "attention_efficiency", stack);
    }
    if (constexpr std::string_view kExposed = "accumulation_exposed"; has(kExposed)) {
        stack.accumulation_exposed =
            read_constant(section.of(kExposed), kExposed, Dimension::kNone, 0, 1, kStackRole, stack.constants);
    }
    stack.step_host_s = time("step_host");
    const Overlaid counts = section.section("counts");
    read_counts(counts, stack.kernels);
    set_attention_passes(counts.of("attention").at("attention"), stack);
    if (has("cross_entropy_copies")) {
        stack.cross_entropy_copies = read_count(section.of("cross_entropy_copies"), "cross_entropy_copies", 0);
    }
    if (const auto keeps = section.of("keeps").find("keeps")) {
        set_flags(*keeps, {"rotated", "activation", "unread_products"},
                  {&stack.keeps_rotated, &stack.keeps_activation, &stack.keeps_unread_products});
    }
    stack.weights_in_activation = read_flag(section.of("weights_in_activation"), "weights_in_activation");
    stack.products_by_expert = read_flag(section.of("products_by_expert"), "products_by_expert");
    stack.biases_by_expert = read_flag(section.of("biases_by_expert"), "biases_by_expert");
    stack.dispatches_by_masks = read_flag(section.of("dispatches_by_masks"), "dispatches_by_masks");
    if (const auto allocator = section.of("allocator").find("allocator")) {
        constexpr std::array kAllocators{Allocator::kNone, Allocator::kCaching, Allocator::kExpandable};
        stack.allocator = kAllocators.at(allocator->as_one_of({"none", "caching", "expandable"}));
    }
}

void read_can_overlap(const JsonValue& base, const std::optional<JsonValue>& release, Stack& stack) {
    Stack of_base;
    const auto read = [](const JsonValue& list, Stack& into) {
        set_flags(list, {"tp", "ep", "dp", "pp"},
                  {&into.can_overlap_tp, &into.can_overlap_ep, &into.can_overlap_dp, &into.can_overlap_pp});
    };
    const bool has_own = release && release->find("can_overlap");
    read(base.at("can_overlap"), has_own ? of_base : stack);
    if (has_own) {
        read(release->at("can_overlap"), stack);
    }
}

namespace {

constexpr std::string_view kOn = "on";  ///< parts of a release for tiles of some architectures, in its own place there

/// The part of a release for the architecture; without one the release.
JsonValue release_on(const JsonValue& entry, std::string_view architecture) {
    const auto on = entry.find(kOn);
    const auto part = on && on->is_object() && !architecture.empty() ? on->find(architecture) : std::nullopt;
    return part ? *part : entry;
}

void check_changes(const JsonValue& root, const JsonValue& changes) {
    Stack unused;
    read_kernels(root.at("kernels"), changes.find("kernels"), unused);
    read_can_overlap(root, changes, unused);
    static_cast<void>(read_stack_startup(root.find("startup"), changes.find("startup")));
}

void check_release(const JsonValue& root, const JsonValue& entry) {
    entry.allow_only({"date", "kernels", "can_overlap", "startup", kOn});
    check_date(entry.at("date"));
    check_changes(root, entry);
    if (const auto on = entry.find(kOn)) {
        on->allow_only(kArchitectures);
        for (const std::string_view architecture : kArchitectures) {
            if (const auto part = on->find(architecture)) {
                part->allow_only({"kernels", "can_overlap", "startup"});
                check_changes(root, *part);
            }
        }
    }
}

}  // namespace

std::string shadowing_path(const JsonDocument& document, std::string_view path, std::string_view architecture) {
    const auto releases = document.root().find("releases");
    const auto use = releases ? releases->find("use") : std::nullopt;
    const auto entries = releases ? releases->find("entries") : std::nullopt;
    const auto entry = use && entries && use->is_string() ? entries->find(use->as_string()) : std::nullopt;
    std::optional<JsonValue> at = entry && entry->is_object() ? std::optional(release_on(*entry, architecture)) : entry;
    if (!at || !at->is_object()) {
        return "";  // whoever loads it says so
    }
    while (at && at->is_object() && !at->find("value") && !path.empty()) {
        const std::string_view key = path.substr(0, path.find('.'));
        at = at->find(key);
        path.remove_prefix(std::min(path.size(), key.size() + 1));
    }
    const bool is_part = at && at->is_object() && !at->find("value");  // a section, of which others may be meant
    return at && !is_part ? "stack." + at->path() : "";
}

std::optional<JsonValue> release_in_use(const JsonValue& root, std::string_view architecture, Stack& stack) {
    const std::optional<JsonValue> section = root.find("releases");
    if (!section) {
        return std::nullopt;
    }
    section->allow_only({"use", "entries"});
    const DatedEntry found =
        entry_in_use(*section, stack.releases, [&root](const JsonValue& entry) { check_release(root, entry); });
    stack.release = found.name;
    const JsonValue part = release_on(found.value, architecture);
    stack.release_on = part.path() == found.value.path() ? "" : architecture;
    return part;
}

}  // namespace auspex::models
