/// @file Words that were meant: distances by hand, and what is too far.
#include "base/text/closest_word.hpp"

#include <gtest/gtest.h>

namespace auspex {
namespace {

TEST(ClosestWord, letters_apart_are_added_left_out_changed_and_swapped_ones) {
    EXPECT_EQ(letters_apart("aurora", "aurora"), 0U);
    EXPECT_EQ(letters_apart("arora", "aurora"), 1U);
    EXPECT_EQ(letters_apart("auroras", "aurora"), 1U);
    EXPECT_EQ(letters_apart("aurara", "aurora"), 1U);
    EXPECT_EQ(letters_apart("uarora", "aurora"), 1U);
    EXPECT_EQ(letters_apart("", "abc"), 3U);
    EXPECT_EQ(letters_apart("kitten", "sitting"), 3U);
}

TEST(ClosestWord, distances_are_the_same_both_ways) {
    for (const char* a : {"predict", "plan", "", "predcit"}) {
        for (const char* b : {"plan", "pedict", "abc"}) {
            EXPECT_EQ(letters_apart(a, b), letters_apart(b, a)) << a << " " << b;
        }
    }
}

TEST(ClosestWord, only_what_is_near_is_suggested) {
    EXPECT_EQ(did_you_mean("predcit", {"plan", "predict", "place"}), "; did you mean predict?");
    EXPECT_EQ(did_you_mean("pln", {"place", "plan"}), "; did you mean plan?");
    EXPECT_EQ(did_you_mean("train", {"plan", "fabric"}), "");
    EXPECT_EQ(did_you_mean("import foo", {"import osu", "import hf"}), "") << "three letters of three";
    EXPECT_EQ(did_you_mean("import osi", {"import osu", "import hf"}), "; did you mean import osu?");
    EXPECT_EQ(did_you_mean("h100", {"aurora", "dgx-h100", "hf-h100"}), "; did you mean dgx-h100?") << "a whole part";
    EXPECT_EQ(did_you_mean("h10", {"dgx-h100"}), "") << "part of a part";
    EXPECT_EQ(did_you_mean("micro_batch", {"micro_batches", "micro_batch_size"}), "; did you mean micro_batch_size?");
    EXPECT_EQ(did_you_mean("x", {"y"}), "");
    EXPECT_EQ(did_you_mean("", {"plan"}), "");
    EXPECT_EQ(did_you_mean(std::string(1'000'000, 'a'), {"plan"}), "");
}

}  // namespace
}  // namespace auspex
