/// @file Releases of a framework: dated entries of its stack, which have what differs in kernels and overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex::models {
namespace {

JsonDocument with_releases(const std::string& use, const std::string& entries) {
    JsonDocument document = JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/stacks/bare.json");
    document.set("releases", R"({"use": ")" + use + R"(", "entries": )" + entries + "}");
    return document;
}

std::string refusal(const JsonDocument& document) {
    try {
        static_cast<void>(load_stack(document));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

constexpr const char* kEntries = R"({
    "old": {"date": "2024-01", "kernels": {"counts": {"norm": 7},
            "attention_efficiency": {"value": 0.25, "source": "s", "kind": "fitted"}, "keeps": ["rotated"]},
            "can_overlap": []},
    "new": {"date": "2025-01"}})";

TEST(StackReleases, a_release_has_its_own_keys_and_the_stacks_for_the_rest) {
    const Stack base = load_stack(with_releases("new", kEntries)), old = load_stack(with_releases("old", kEntries));
    EXPECT_EQ(old.release, "old");
    EXPECT_EQ(old.releases, (std::vector<std::string>{"new", "old"}));
    EXPECT_EQ(old.kernels.norm, 7);
    EXPECT_EQ(old.kernels.rms_norm, 0) << "norm counts where the file leaves it out";
    EXPECT_EQ(old.kernels.rope, base.kernels.rope);
    EXPECT_EQ(old.attention_efficiency, 0.25);
    EXPECT_EQ(base.attention_efficiency, 1);
    EXPECT_TRUE(old.keeps_rotated && !base.keeps_rotated);
    EXPECT_TRUE(base.can_overlap_dp && !old.can_overlap_dp);
    const auto has = [](const Stack& stack) {
        return std::ranges::any_of(stack.constants, [](const Constant& constant) {
            return constant.path == "stack.releases.entries.old.kernels.attention_efficiency";
        });
    };
    EXPECT_TRUE(has(old) && !has(base));
}

TEST(StackReleases, rms_norms_have_a_count_of_their_own_where_the_file_has_one) {
    JsonDocument document = with_releases("old", kEntries);
    document.set("kernels.counts.rms_norm", "9");
    const Stack stack = load_stack(document);
    EXPECT_EQ(stack.kernels.norm, 7);
    EXPECT_EQ(stack.kernels.rms_norm, 9);
}

TEST(StackReleases, slips_are_refused_by_path_in_every_entry_whichever_is_in_use) {
    const auto expect = [](const std::string& use, const std::string& entries, const std::string& words) {
        const std::string found = refusal(with_releases(use, entries));
        EXPECT_NE(found.find(words), std::string::npos) << found;
    };
    expect("newer", kEntries, "expected the name of an entry: \"new\", \"old\"");
    expect("a", R"({"a": {"date": "2024"}})", "$.releases.entries.a.date");
    expect("a", R"({"a": {"date": "2024-01"}, "b": {"date": "2024-01", "kernels": {"counts": {"norms": 1}}}})",
           "$.releases.entries.b.kernels.counts");
    expect("a", R"({"a": {"date": "2024-01", "transport": {}}})", "transport");
    expect("a", R"({"a.b": {"date": "2024-01"}})", "a.b");
    expect("a", R"({"a": {"date": "2024-01"}, "b": {"date": "2024-01", "can_overlap": ["dpp"]}})",
           "$.releases.entries.b.can_overlap");
}

TEST(StackReleases, what_a_release_has_of_its_own_is_not_read_elsewhere) {
    const JsonDocument old = with_releases("old", kEntries);
    const std::string place = "stack.releases.entries.old.";
    EXPECT_EQ(shadowing_path(old, "kernels.counts.norm", ""), place + "kernels.counts.norm");
    EXPECT_EQ(shadowing_path(old, "kernels.attention_efficiency", ""), place + "kernels.attention_efficiency");
    EXPECT_EQ(shadowing_path(old, "kernels.attention_efficiency.value", ""), place + "kernels.attention_efficiency");
    EXPECT_EQ(shadowing_path(old, "can_overlap", ""), place + "can_overlap");
    EXPECT_EQ(shadowing_path(old, "kernels.counts.rope", ""), "");
    EXPECT_EQ(shadowing_path(old, "kernels", ""), "");
    EXPECT_EQ(shadowing_path(old, "releases.use", ""), "");
    EXPECT_EQ(shadowing_path(with_releases("new", kEntries), "kernels.counts.norm", ""), "");
}

constexpr const char* kOnHopper = R"({
    "new": {"date": "2025-01", "kernels": {"counts": {"norm": 7, "rope": 5}},
            "on": {"comment": "c", "blackwell": {},
                   "hopper": {"kernels": {"counts": {"norm": 3},
                                          "issue": {"value": "40 us", "source": "s", "kind": "fitted"}}}}}})";

Machine machine_of(const std::string& architecture) {
    Machine machine;
    machine.tile.architecture = architecture;
    return machine;
}

/// changes(architecture) = those of its part, in place of the release's own.
TEST(StackReleases, a_part_for_an_architecture_takes_the_place_of_what_the_release_changes) {
    const JsonDocument document = with_releases("new", kOnHopper);
    const auto on = [&](const char* architecture) { return load_stack(document, machine_of(architecture)); };
    const Stack base = load_stack(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/stacks/bare.json"));
    for (const Stack& elsewhere : {load_stack(document), on(""), on("ampere")}) {
        EXPECT_EQ(elsewhere.kernels.norm, 7);
        EXPECT_EQ(elsewhere.kernels.rope, 5);
        EXPECT_EQ(elsewhere.issue_s, base.issue_s);
    }
    EXPECT_EQ(on("hopper").kernels.norm, 3);
    EXPECT_EQ(on("hopper").kernels.rope, base.kernels.rope);
    EXPECT_DOUBLE_EQ(on("hopper").issue_s, 40e-6);
    EXPECT_EQ(on("blackwell").kernels.norm, base.kernels.norm);
    EXPECT_EQ(on("blackwell").release, "new");
    const std::string place = "stack.releases.entries.new.on.hopper.kernels.";
    const std::vector<Constant> constants = on("hopper").constants;
    EXPECT_TRUE(
        std::ranges::any_of(constants, [&](const Constant& constant) { return constant.path == place + "issue"; }));
    EXPECT_EQ(shadowing_path(document, "kernels.counts.norm", "hopper"), place + "counts.norm");
    EXPECT_EQ(shadowing_path(document, "kernels.counts.rope", "hopper"), "");
    EXPECT_EQ(shadowing_path(document, "kernels.counts.norm", "blackwell"), "");
    EXPECT_EQ(shadowing_path(document, "kernels.counts.norm", "cdna3"),
              "stack.releases.entries.new.kernels.counts.norm");
}

/// Kernels issued one by one, and experts outside of graphs, are told by runs on Hopper alone.
TEST(StackReleases, megatron_core_on_hopper_and_elsewhere) {
    const auto issue_s = [](const std::string& release, const std::string& architecture) {
        JsonDocument document = JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/stacks/megatron-core.json");
        document.set("releases.use", release);
        const Stack stack = load_stack(document, machine_of(architecture));
        return stack.issues_each_expert ? stack.issue_s : -stack.issue_s;
    };
    const double captured = issue_s("hai-llm-2024", "hopper");
    EXPECT_LT(captured, 0);
    EXPECT_GT(issue_s("graphs-2026", "hopper"), -captured);
    EXPECT_GT(issue_s("eager-2025", "hopper"), issue_s("graphs-2026", "hopper"));
    EXPECT_EQ(issue_s("eager-2025", "ampere"), issue_s("eager-2025", "hopper"));
    for (const char* const architecture : {"blackwell", "cdna3", "cdna4"}) {
        EXPECT_EQ(issue_s("eager-2025", architecture), captured) << architecture;
        EXPECT_EQ(issue_s("graphs-2026", architecture), captured) << architecture;
    }
}

TEST(StackReleases, slips_in_parts_for_architectures_are_refused_wherever_the_stack_runs) {
    const auto expect = [](const std::string& on, const std::string& words) {
        const std::string found = refusal(with_releases("a", R"({"a": {"date": "2024-01", "on": )" + on + "}}"));
        EXPECT_NE(found.find(words), std::string::npos) << found;
    };
    expect(R"({"hoper": {}})", "hoper");
    expect(R"({"hopper": {"date": "2024-01"}})", "$.releases.entries.a.on.hopper");
    expect(R"({"hopper": {"kernels": {"counts": {"norm": 0}}}})", "$.releases.entries.a.on.hopper.kernels.counts.norm");
}

}  // namespace
}  // namespace auspex::models
