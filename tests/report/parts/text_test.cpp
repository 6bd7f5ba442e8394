/// @file Digits and escapes of the reports, and labels that do not overlap.
#include <gtest/gtest.h>

#include <limits>

#include "base/rng.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

TEST(Text, separates_thousands) {
    EXPECT_EQ(thousands(0), "0");
    EXPECT_EQ(thousands(999), "999");
    EXPECT_EQ(thousands(12288), "12,288");
    EXPECT_EQ(thousands(25165824), "25,165,824");
    EXPECT_EQ(thousands(-1234567.4), "-1,234,567");
}

TEST(Text, keeps_three_significant_digits) {
    EXPECT_EQ(significant(10.24), "10.2");
    EXPECT_EQ(significant(9.994), "9.99");
    EXPECT_EQ(significant(9.996), "10.0");  // one more digit left of the point, one less right of it
    EXPECT_EQ(significant(0.012345), "0.0123");
    EXPECT_EQ(significant(12345), "12,345");
    EXPECT_EQ(significant(0), "0");
    EXPECT_EQ(significant(1.234e-9), "1.23e-09");
    EXPECT_EQ(significant(5e-324), "4.94e-324");
    EXPECT_EQ(significant(std::numeric_limits<double>::quiet_NaN()), "–");
}

TEST(Text, chooses_the_unit_of_a_duration) {
    EXPECT_EQ(duration(10.24), "10.2 s");
    EXPECT_EQ(duration(0.0345), "34.5 ms");
    EXPECT_EQ(duration(0.0000121), "12.1 us");
    EXPECT_EQ(duration(0.99999), "1.00 s");  // not 1,000 ms
}

TEST(Text, shows_changes_with_their_sign) {
    EXPECT_EQ(signed_significant(0.4121), "+0.412");
    EXPECT_EQ(signed_significant(-0.031), "−0.0310");
    EXPECT_EQ(signed_significant(0), "0");
    EXPECT_EQ(fixed(-0.0001, 2), "0.00");
    EXPECT_EQ(percent(0.89942), "89.9 %");
    EXPECT_EQ(short_count(6291456), "6.29 M");
    EXPECT_EQ(short_count(999999), "1.00 M");
    EXPECT_EQ(tick_count(5e6), "5 M");
    EXPECT_EQ(tick_count(1.25e6), "1.25 M");
    EXPECT_EQ(tick_count(200e3), "200 k");
}

TEST(Text, escapes_what_is_markup) {
    EXPECT_EQ(html_escape("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
    EXPECT_EQ(markdown_escape("a|b_c\n<d>"), "a\\|b\\_c \\<d\\>");
}

TEST(Labels, are_moved_apart_and_stay_inside) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Rng rng(seed);
        std::vector<SvgLabel> labels(1 + rng.below(12));
        for (SvgLabel& label : labels) {
            label.y = 20 + 380 * rng.uniform();
        }
        spread_labels(labels, 18, 20, 400);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            EXPECT_GE(labels[i].y, 20 - 1e-9) << "seed " << seed;
            EXPECT_LE(labels[i].y, 400 + 1e-9) << "seed " << seed;
            EXPECT_TRUE(i == 0 || labels[i].y - labels[i - 1].y >= 18 - 1e-9) << "seed " << seed;  // next - this >= gap
        }
    }
}

TEST(Ticks, cover_the_range_in_round_steps) {
    EXPECT_EQ(round_ticks(0, 6.14, 6).back(), 7);
    EXPECT_EQ(round_ticks(0, 6.14, 6).size(), 8U);  // 0, 1, … 7
    EXPECT_EQ(decade_ticks(130, 2100), (std::vector<double>{200, 500, 1000, 2000}));
    EXPECT_EQ(decade_ticks(110, 160), (std::vector<double>{110, 120, 130, 140, 150, 160}));
    EXPECT_EQ(wide_ticks(100, 200, 5), round_ticks(100, 200, 5));
    const std::vector<double> alike = wide_ticks(1848, 1848, 5);
    EXPECT_LE(alike.front(), 0.91 * 1848);
    EXPECT_GE(alike.back(), 1.09 * 1848);
}

}  // namespace
}  // namespace auspex::report
