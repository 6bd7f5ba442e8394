/// @file Columns of text.
#include "report/parts/text_table.hpp"

#include <gtest/gtest.h>

namespace auspex::report {
namespace {

TEST(TextTable, columns_are_two_spaces_apart_however_wide_a_cell_is) {
    EXPECT_EQ(text_table({{"size", "name"}, {"1,000,000,000,000,000", "x"}, {"8", "–"}}, {1}),
              "                 size  name\n"
              "1,000,000,000,000,000  x\n"
              "                    8  –\n");
}

TEST(TextTable, a_character_of_several_bytes_is_one_wide) {
    EXPECT_EQ(text_table({{"a", "b"}, {"–", "ab"}}, {}), "a   b\n–  ab\n");
}

TEST(TextTable, parts_stand_in_line_under_lines_of_their_own) {
    EXPECT_EQ(text_parts({{"", {{"", "before"}, {"a", "1"}}}, {"a long line above", {{"longer", "20"}}, "below"}}, {0}),
              "\n        before\n"
              "a            1\n"
              "\na long line above\n"
              "longer      20\n"
              "below\n");
}

}  // namespace
}  // namespace auspex::report
