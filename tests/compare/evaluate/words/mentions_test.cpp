/// @file Versions of software in texts, and the names that they belong to.
#include "compare/evaluate/words/mentions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace auspex::evaluate {
namespace {

/// "0.11.0", "date 2025 4"; with "; " between several.
std::string versions_of(const std::string& text) {
    std::string found;
    for (const VersionInText& one : versions_in(text)) {
        found += found.empty() ? "" : "; ";
        found += one.version.is_date ? "date" : "";
        for (std::size_t i = 0; i < one.version.parts.size(); ++i) {
            found += (one.version.is_date ? " " : i > 0 ? "." : "") + std::to_string(one.version.parts[i]);
        }
    }
    return found;
}

TEST(SoftwareVersion, numbers_and_dates_are_read_as_people_write_them) {
    const std::vector<std::pair<std::string, std::string>> expected{
        {"core_r0.9", "0.9"},
        {"core_v0.11.0", "0.11.0"},
        {"v0.12.1rc2", "0.12.1"},
        {"==0.13.0", "0.13.0"},
        {"r2.3.0", "2.3.0"},
        {"release 1.23", "1.23"},
        {"v3", "3"},
        {"25.04", "date 2025 4"},
        {"v25.5_py310", "date 2025 5"},
        {"26.04.01", "date 2026 4 1"},
        {"25.xx", "date 2025 7"},
        {"24.x", "date 2024 7"},
        {"2025-04", "date 2025 4"},
        {"2025/04/12", "date 2025 4 12"},
        {"llama3_h100_202412_torchtitan", "date 2024 12"},
        {"/20260413-143400-", "date 2026 4 13"},
        {"dev20250412", ""},
        {"April 2025", "date 2025 4"},
        {"15 March 2024", "date 2024 3"},
        {"Aug. 12, 2024", "date 2024 8"},
        {"cases_april2021.png", "date 2021 4"},
        {"Q3 2024", "date 2024 8"},
        {"2024", "date 2024 7"},
        {"0.8 (24.07)", "0.8; date 2024 7"},
        // No versions.
        {"H100 80GB, 8.3B, 8x400Gb/s", ""},
        {"arXiv:2409.13523", ""},
        {"ZeRO-3, FSDP2, llama3", ""},
        {"commit 3fb4a2c", ""},
        {"49.5 %", "49.5"},
        {"49.5%", ""},
    };
    for (const auto& [text, versions] : expected) {
        EXPECT_EQ(versions_of(text), versions) << text;
    }
}

TEST(SoftwareVersion, papers_are_of_the_month_of_their_number) {
    for (const char* const text :
         {"arXiv:2205.05198", "(arxiv 2205.05198v2)", "https://arxiv.org/abs/2205.05198", "arxiv.org/pdf/2205.05198"}) {
        ASSERT_EQ(papers_in(text).size(), 1U) << text;
        EXPECT_EQ(papers_in(text)[0].version.parts, (std::vector<int>{2022, 5})) << text;
    }
    for (const char* const text : {"2205.05198", "arXiv:2213.05198", "arXiv:0905.05198", "arXiv:2205.051", "arXiv"}) {
        EXPECT_TRUE(papers_in(text).empty()) << text;
    }
}

/// Part by part, not letter by letter.
TEST(SoftwareVersion, versions_are_ordered_as_numbers) {
    const std::vector<std::string> rising{"0.5", "0.9", "0.9.1", "0.10", "0.11.0", "1", "2.0", "2.10"};
    for (std::size_t i = 1; i < rising.size(); ++i) {
        EXPECT_EQ(order(*version_of(rising[i - 1]), *version_of(rising[i])), std::strong_ordering::less) << rising[i];
    }
    EXPECT_EQ(order(*version_of("0.9"), *version_of("r0.9.0")), std::strong_ordering::equal);
    EXPECT_EQ(order(*version_of("25.04"), *version_of("2025-04")), std::strong_ordering::equal);
    EXPECT_EQ(order(*version_of("25.04.01"), *version_of("2025-05")), std::strong_ordering::less);
    EXPECT_FALSE(version_of("newest"));
    EXPECT_FALSE(version_of("0.9 of 2024"));
}

const std::vector<std::vector<std::string>> kNames{
    {"Megatron-Core", "MCore"}, {"Megatron-LM", "Megatron"}, {"NeMo"}, {"Composer"}, {"FSDP", "PyTorch FSDP"}};
const std::vector<std::string> kShort{"core", "lm", "nemo", "composer", "fsdp"};

/// "nemo 25.02": names and texts of versions, with ", " between; what is left behind a bar.
std::string mentioned(const std::string& text) {
    const Mentions mentions = mentions_in(text, kNames);
    std::string found;
    const auto add = [&](const VersionInText& one) { found += " " + text.substr(one.begin, one.end - one.begin); };
    for (const Mention& one : mentions.names) {
        found += (found.empty() ? "" : ", ") + kShort[one.name];
        for (const VersionInText& version : one.versions) {
            add(version);
        }
    }
    found += mentions.rest.empty() ? "" : " |";
    for (const VersionInText& version : mentions.rest) {
        add(version);
    }
    return found;
}

TEST(Mentions, a_version_belongs_to_the_name_beside_it) {
    const std::vector<std::pair<std::string, std::string>> expected{
        {"megatron core v0.11.0", "core v0.11.0"},
        {"TransformerEngine 1.9 + Megatron-LM core_r0.9", "lm r0.9"},
        {"Megatron-LM (core_v0.8.0)", "lm v0.8.0"},
        {"NeMo 2.0 (24.12)", "nemo 2.0 24.12"},
        {"nvcr.io/nvidia/nemo:25.02", "nemo 25.02"},
        {"NVIDIA NeMo\u2122 Framework container (v25.07)", "nemo v25.07"},
        {"summary.md, 26.06 NeMo container", "nemo 26.06"},
        {"Composer 0.17 + FSDP", "composer 0.17, fsdp"},
        {"NeMo 24.05, Megatron-Core 0.7", "nemo 24.05, core 0.7"},
        {"NeMo 24.07 Megatron-Core", "nemo 24.07, core"},
        {"MLPerf v4.1 NeMo", "nemo"},
        {"NeMo24.09", "nemo 24.09"},
        {"Transformer Engine release 1.9, Megatron-LM", "lm"},
        {"Megatron-LM, core release 0.8", "lm | 0.8"},
        {"github.com/NVIDIA/Megatron-LM/tree/core_r0.7.0", "lm r0.7.0"},
        {"Megatron-LM (commit 3fb4a2c, Aug 2024)", "lm | aug 2024"},
        {"MegatronLM", "lm"},
        {"Nemotron, Megatrons", ""},
        {"no NeMo but MCore r0.8", "core r0.8"},
        {"Megatron-LM without FSDP", "lm"},
    };
    for (const auto& [text, found] : expected) {
        std::string small = mentioned(text);
        std::ranges::replace(small, 'A', 'a');
        EXPECT_EQ(small, found) << text;
    }
}

}  // namespace
}  // namespace auspex::evaluate
