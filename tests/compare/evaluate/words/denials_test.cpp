/// @file One reader of denials: what is said, what is denied, what is not spoken of.
#include "compare/evaluate/words/denials.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace auspex::evaluate {
namespace {

TEST(Denials, a_word_is_said_unless_what_is_near_it_denies_it) {
    for (const char* const said :
         {"torch.compile", "TorchTitan (compile)", "Compiled", "compile, no AC", "no AC; compile",
          "compile with AC off", "not eager but compiled", "AC off, compile=True", "compile (AC off)", "compile 0.3"}) {
        EXPECT_EQ(said_of(said, "compile"), Said::kYes) << said;
    }
    for (const char* const denied : {"uncompiled",
                                     "no compile",
                                     "no-compile",
                                     "not yet compiled",
                                     "without torch.compile",
                                     "compile=False",
                                     "compile: off",
                                     "compile (off)",
                                     "torch.compile disabled",
                                     "compile is not used",
                                     "compile none",
                                     "w/o compile",
                                     "AC, compile=0",
                                     "disable compile",
                                     "non-compiled",
                                     "compiled step off",
                                     "eager instead of compile",
                                     "before torch.compile",
                                     "compile 2.7 was disabled",
                                     "compile could not be used"}) {
        EXPECT_EQ(said_of(denied, "compile"), Said::kDenied) << denied;
    }
    EXPECT_EQ(said_of("eager", "compile"), Said::kNot);
    // Once said is enough.
    EXPECT_EQ(said_of("no FP8 attention, FP8 products", "fp8"), Said::kYes);
}

TEST(Denials, a_text_denies_its_subject_as_a_whole_or_by_name) {
    for (const char* const denial : {"none (blocking)", "no overlap", "overlap off", "false", "0", "without overlap",
                                     "overlap disabled", "off", "w/o overlap", "disabled"}) {
        EXPECT_TRUE(denies(denial, "overlap")) << denial;
    }
    for (const char* const other : {"", "tp, dp", "all gradients overlapped", "overlap", "dp only"}) {
        EXPECT_FALSE(denies(other, "overlap")) << other;
    }
}

}  // namespace
}  // namespace auspex::evaluate
