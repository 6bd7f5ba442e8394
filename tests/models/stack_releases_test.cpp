/// @file Releases of a framework: dated entries of its stack, which have what differs in kernels and overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/stack.hpp"
#include "models/stack_file/read_kernels.hpp"

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
    EXPECT_EQ(shadowing_path(old, "kernels.counts.norm"), place + "kernels.counts.norm");
    EXPECT_EQ(shadowing_path(old, "kernels.attention_efficiency"), place + "kernels.attention_efficiency");
    EXPECT_EQ(shadowing_path(old, "kernels.attention_efficiency.value"), place + "kernels.attention_efficiency");
    EXPECT_EQ(shadowing_path(old, "can_overlap"), place + "can_overlap");
    EXPECT_EQ(shadowing_path(old, "kernels.counts.rope"), "");
    EXPECT_EQ(shadowing_path(old, "kernels"), "");
    EXPECT_EQ(shadowing_path(old, "releases.use"), "");
    EXPECT_EQ(shadowing_path(with_releases("new", kEntries), "kernels.counts.norm"), "");
}

TEST(StackReleases, notes_of_mixtures_are_those_of_the_release_in_use) {
    constexpr const char* kNoted = R"({"new": {"date": "2026-04"},
        "old": {"date": "2024-01", "note_of_mixtures": "slower than predicted"}})";
    Workload mixture, dense;
    mixture.num_experts = 8;
    const JsonDocument old = with_releases("old", kNoted), fresh = with_releases("new", kNoted);
    EXPECT_EQ(mixtures_note(old, load_stack(old), mixture), "slower than predicted");
    EXPECT_EQ(mixtures_note(old, load_stack(old), dense), "");
    EXPECT_EQ(mixtures_note(fresh, load_stack(fresh), mixture), "");
    EXPECT_THROW(
        static_cast<void>(load_stack(with_releases("a", R"({"a": {"date": "2024-01", "note_of_mixtures": 1}})"))),
        InputError);
}

}  // namespace
}  // namespace auspex::models
