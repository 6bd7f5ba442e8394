/// @file CSV text, written and cut.
#include "base/csv.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace auspex {
namespace {

// RFC 4180: quotes round what holds a comma, a quote or an end of a line; quotes inside are written twice.
TEST(Csv, fields_are_quoted_where_they_have_to_be) {
    EXPECT_EQ(csv_field("plain text"), "plain text");
    EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_field("say \"a\""), "\"say \"\"a\"\"\"");
    EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
    EXPECT_EQ(csv_line({"", "1", "x,y"}), ",1,\"x,y\"\n");
}

TEST(Csv, lines_are_read_back) {
    const std::vector<std::string> fields{"", "a,b", "\"", "\"\"", "c \"d\", e", " f "};
    std::string line = csv_line(fields);
    line.pop_back();
    EXPECT_EQ(csv_fields(line, "here"), fields);
    EXPECT_THROW(static_cast<void>(csv_fields("\"open", "here")), InputError);
}

}  // namespace
}  // namespace auspex
