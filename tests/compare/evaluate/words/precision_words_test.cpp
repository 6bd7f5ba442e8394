/// @file Words of precision and the recipe that each is.
#include "compare/evaluate/words/precision_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace auspex::evaluate {
namespace {

/// Words; plan.precision, plan.fp8; what a note has, "" where there is none.
TEST(PrecisionWords, words_become_the_plans) {
    const std::vector<std::array<std::string, 4>> expected{
        {"bf16", "bf16", "none", ""},
        {"bf16-mixed", "bf16", "none", ""},
        {"BF16, FP32 master weights", "bf16", "none", ""},
        {"16-mixed", "bf16", "none", "taken as bf16"},
        {"32-true", "fp32", "none", "gemm_fp32"},
        {"bf16 (no fp8)", "bf16", "none", ""},
        {"FP8: off, BF16", "bf16", "none", ""},
        {"BF16 (FP8 attention off)", "bf16", "none", ""},
        {"FP8: no", "bf16", "none", "taken as bf16"},
        {"BF16/FP8", "bf16", "tensorwise", "names two"},
        {"BF16 or FP8", "bf16", "tensorwise", "names two"},
        {"FP8", "bf16", "tensorwise", ""},
        {"fp8 hybrid", "bf16", "tensorwise", ""},
        {"fp8 delayed", "bf16", "tensorwise", "delayed scaling"},
        {"FP8-DS", "bf16", "tensorwise", "delayed scaling"},
        {"FP8-CS", "bf16", "tensorwise", ""},
        {"float8 rowwise", "bf16", "tensorwise", "by rows"},
        {"mxfp8", "bf16", "blockwise", ""},
        {"FP8-MX", "bf16", "blockwise", ""},
        {"fp8-sc", "bf16", "blockwise", ""},
        {"FP8 blockwise (1x128)", "bf16", "blockwise", ""},
        {"FP8 finer granularity (MX 1x32 on Blackwell)", "bf16", "blockwise", ""},
        {"nvfp4", "bf16", "nvfp4", ""},
        {"NVFP4 (first and last layers bf16)", "bf16", "nvfp4", "names two"},
        {"BF16 with FP8 optimizer moments", "bf16", "none", "beside products is left out"},
        {"fp8 attention, bf16 gemms", "bf16", "none", "beside products is left out"},
        {"bf16, fp8 all-gather only", "bf16", "none", "beside products is left out"},
        {"fp4", "bf16", "nvfp4", "taken as NVFP4"},
    };
    for (const auto& [words, weights, fp8, note] : expected) {
        const StatedPrecision found = precision_in(words, "tensorwise");
        EXPECT_EQ(found.refused, "") << words;
        EXPECT_EQ(found.weights, weights) << words;
        EXPECT_EQ(found.fp8, fp8) << words;
        ASSERT_EQ(found.notes.size(), note.empty() ? 0U : 1U) << words;
        EXPECT_TRUE(note.empty() || found.notes[0].find(note) != std::string::npos) << found.notes[0];
    }
}

/// HAI-LLM's FP8 is by blocks where no more is said.
TEST(PrecisionWords, what_fp8_alone_is_is_the_frameworks) {
    EXPECT_EQ(precision_in("FP8", "blockwise").fp8, "blockwise");
    EXPECT_EQ(precision_in("FP8 hybrid", "blockwise").fp8, "tensorwise");
}

TEST(PrecisionWords, recipes_that_are_not_modelled_are_refused) {
    for (const char* const words : {"mxfp4", "MXFP6", "int8"}) {
        EXPECT_NE(precision_in(words, "tensorwise").refused.find("by other recipes"), std::string::npos) << words;
    }
    EXPECT_NE(precision_in("transformer-engine", "tensorwise").refused.find("bf16"), std::string::npos);
}

}  // namespace
}  // namespace auspex::evaluate
