/// @file Losses and shares in words.
#include "report/parts/loss_words.hpp"

#include <gtest/gtest.h>

namespace auspex::report {
namespace {

TEST(LossWords, a_share_is_a_fraction_where_one_is_near_and_else_in_per_cent) {
    EXPECT_EQ(share_in_words(0.3333), "a third");
    EXPECT_EQ(share_in_words(0.337), "a third");
    EXPECT_EQ(share_in_words(0.349), "35 %") << "1.6 points off";
    EXPECT_EQ(share_in_words(0.5), "half");
    EXPECT_EQ(share_in_words(0.262), "a quarter");
    EXPECT_EQ(share_in_words(0.659), "two thirds");
    EXPECT_EQ(share_in_words(0.12), "12 %");
    EXPECT_EQ(share_in_words(0.97), "97 %");
}

TEST(LossWords, every_loss_has_a_name_for_sentences_of_its_own) {
    std::set<std::string> names;
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        names.insert(plain_name(static_cast<schedule::Loss>(loss)));
    }
    EXPECT_EQ(names.size(), schedule::kLossCount);
    EXPECT_EQ(readable(schedule::Loss::kExposedDp), "exposed dp");
    EXPECT_EQ(change_text(1e-10), "0");
}

}  // namespace
}  // namespace auspex::report
