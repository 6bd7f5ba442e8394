/// @file Quantities: what is read, what is refused, what is printed.
#include "base/units.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "base/rng.hpp"

namespace auspex {
namespace {

TEST(Units, quantities_are_read_in_si) {
    EXPECT_EQ(parse_quantity("185 GB/s", Dimension::kBytesPerSecond, "x"), 185e9);
    EXPECT_EQ(parse_quantity("185GB/s", Dimension::kBytesPerSecond, "x"), 185e9);
    EXPECT_DOUBLE_EQ(parse_quantity("350 ns", Dimension::kSeconds, "x"), 350e-9);
    EXPECT_EQ(parse_quantity("205 TF/s", Dimension::kFlopPerSecond, "x"), 205e12);
    EXPECT_EQ(parse_quantity("205 TFLOP/s", Dimension::kFlopPerSecond, "x"), 205e12);
    EXPECT_EQ(parse_quantity("2 MiB", Dimension::kBytes, "x"), 2.0 * 1024 * 1024);
    EXPECT_EQ(parse_quantity("-1.5e3 B", Dimension::kBytes, "x"), -1500);
    EXPECT_EQ(parse_quantity("2 d", Dimension::kSeconds, "x"), 172800);
    EXPECT_EQ(parse_quantity("3 1/s", Dimension::kPerSecond, "x"), 3);
    EXPECT_EQ(parse_quantity("2.5 GHz", Dimension::kPerSecond, "x"), 2.5e9);
    EXPECT_EQ(parse_quantity("0.25", Dimension::kNone, "x"), 0.25);
    EXPECT_EQ(parse_quantity("100B", Dimension::kCount, "x"), 100e9);
    EXPECT_EQ(parse_quantity("1.5 T", Dimension::kCount, "x"), 1.5e12);
    EXPECT_EQ(parse_quantity("100e9", Dimension::kCount, "x"), 100e9);
}

TEST(Units, a_wrong_or_missing_unit_is_refused) {
    for (const char* text : {"", " ", "185", "185 Gb/s", "185 GB", "GB/s", "185 GB/s ", " 185 GB/s", "185  GB/s",
                             "1e999 GB/s", "1e308 PB/s", "nan B/s", "inf GB/s", "0x10 B/s", "1,5 GB/s", "+1 GB/s"}) {
        EXPECT_THROW(static_cast<void>(parse_quantity(text, Dimension::kBytesPerSecond, "x")), InputError) << text;
    }
    EXPECT_THROW(static_cast<void>(parse_quantity("5 B", Dimension::kNone, "x")), InputError);
    EXPECT_THROW(static_cast<void>(parse_quantity("5 GB", Dimension::kCount, "x")), InputError);
    EXPECT_THROW(static_cast<void>(parse_quantity("5 GB/s", Dimension::kSeconds, "x")), InputError);
}

TEST(Units, the_error_names_place_text_and_an_example_in_one_line) {
    try {
        static_cast<void>(parse_quantity("20 Gb\n/s", Dimension::kBytesPerSecond, "m.json: $.nic"));
        FAIL() << "a wrong unit was accepted";
    } catch (const InputError& error) {
        const std::string text = error.what();
        EXPECT_EQ(text.find("m.json: $.nic: found \"20 Gb?/s\""), 0U) << text;
        EXPECT_NE(text.find("25 GB/s"), std::string::npos) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos);
    }
}

TEST(Units, printing_picks_a_readable_unit) {
    EXPECT_EQ(format_quantity(1.51e8, Dimension::kBytes), "151 MB");
    EXPECT_EQ(format_quantity(0, Dimension::kBytes), "0 B");
    EXPECT_EQ(format_quantity(2.5e10, Dimension::kBytesPerSecond), "25 GB/s");
    EXPECT_EQ(format_quantity(2.05e14, Dimension::kFlopPerSecond), "205 TF/s");
    EXPECT_EQ(format_quantity(3.5e-7, Dimension::kSeconds), "350 ns");
    EXPECT_EQ(format_quantity(7200, Dimension::kSeconds), "2 h");
    EXPECT_EQ(format_quantity(0.5, Dimension::kBytes), "0.5 B");
    EXPECT_EQ(format_quantity(-3e9, Dimension::kBytesPerSecond), "-3 GB/s");
    EXPECT_EQ(format_quantity(12288, Dimension::kNone), "12288");
    EXPECT_EQ(format_quantity(0.123456, Dimension::kNone), "0.1235");
}

TEST(Units, exact_text_reads_back_to_the_same_double) {
    Rng rng(7);
    const Dimension all[] = {Dimension::kNone,          Dimension::kBytes,   Dimension::kBytesPerSecond,
                             Dimension::kFlopPerSecond, Dimension::kSeconds, Dimension::kPerSecond,
                             Dimension::kWatts};
    for (int i = 0; i < 2000; ++i) {
        const double value = (rng.uniform() - 0.5) * std::pow(10.0, static_cast<double>(rng.below(40)) - 20);
        for (const Dimension dimension : all) {
            EXPECT_EQ(parse_quantity(exact_quantity(value, dimension), dimension, "x"), value);
        }
    }
}

TEST(Units, readable_text_is_within_half_a_thousandth) {
    Rng rng(8);
    for (int i = 0; i < 2000; ++i) {
        const double value = rng.uniform() * std::pow(10.0, static_cast<double>(rng.below(30)) - 10);
        const double again = parse_quantity(format_quantity(value, Dimension::kSeconds), Dimension::kSeconds, "x");
        EXPECT_NEAR(again, value, 5.1e-4 * value);
    }
}

TEST(Units, the_example_of_every_dimension_is_accepted) {
    for (const Dimension dimension :
         {Dimension::kNone, Dimension::kBytes, Dimension::kBytesPerSecond, Dimension::kFlopPerSecond,
          Dimension::kSeconds, Dimension::kPerSecond, Dimension::kWatts}) {
        EXPECT_GT(parse_quantity(example_of(dimension), dimension, "x"), 0);
    }
}

// Links are often stated in bits; nothing is printed in them.
TEST(Units, bits_a_second_are_eighths_of_bytes) {
    EXPECT_EQ(parse_quantity("200 Gbit/s", Dimension::kBytesPerSecond, "x"), 25e9);
    EXPECT_EQ(parse_quantity("400 Mbit/s", Dimension::kBytesPerSecond, "x"), 50e6);
    EXPECT_EQ(format_quantity(25e9, Dimension::kBytesPerSecond), "25 GB/s");
    EXPECT_EQ(format_quantity(2e6, Dimension::kBytesPerSecond), "2 MB/s");
}

}  // namespace
}  // namespace auspex
