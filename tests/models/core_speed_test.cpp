/// @file Probes in sources of rows: written, read back, and what is not one.
#include "models/core_speed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/rng.hpp"

namespace auspex::models {
namespace {

double probe_of(const std::string& source) {
    Measurement row;
    row.source = source;
    return probe_beside_s(row);
}

TEST(CoreSpeed, a_source_gives_back_its_probe_to_a_nanosecond) {
    EXPECT_EQ(own_source(), "this machine");
    EXPECT_EQ(own_source(150.526e-6), "this machine (probe 150.526 us)");
    EXPECT_EQ(probe_of("this machine"), 0);
    Rng random(3);
    for (int i = 0; i < 1000; ++i) {
        const double probe_s = 1e-6 * std::exp(14 * random.uniform());
        EXPECT_NEAR(probe_of(own_source(probe_s)), probe_s, 0.6e-9);
        EXPECT_TRUE(is_own_source(own_source(probe_s)));
    }
}

TEST(CoreSpeed, other_texts_are_no_probes) {
    for (const char* const source :
         {"", "this machine (probe us)", "this machine (probe -1 us)", "OSU", "this machine (probe 1e999 us)",
          "this machine (probe nan us)", "this machine (probe 1 us", "a (probe 1 us)"}) {
        EXPECT_EQ(probe_of(source), 0) << source;
        EXPECT_FALSE(is_own_source(source)) << source;
    }
}

TEST(CoreSpeed, rows_are_slowed_from_a_tenth_above_the_fastest_probe_on) {
    std::vector<Measurement> rows(3);
    for (const double seconds : {3e-4, 2e-4, 2.5e-4}) {
        Measurement probe;
        probe.kind = "host", probe.name = "probe", probe.seconds = seconds;
        rows.push_back(probe);
    }
    EXPECT_EQ(full_speed_probe_s(rows), 2e-4);
    EXPECT_EQ(full_speed_probe_s({}), 0);
    Measurement row;
    row.source = own_source(2.19e-4);
    EXPECT_FALSE(is_slowed(row, 2e-4));
    EXPECT_FALSE(is_slowed(row, 0));
    row.source = own_source(2.21e-4);
    EXPECT_TRUE(is_slowed(row, 2e-4));
    row.source = "this machine";
    EXPECT_FALSE(is_slowed(row, 2e-4));
    row.source = "this machine (slowed)";  // of an older file, by how much is not known
    EXPECT_TRUE(is_slowed(row, 2e-4));
    EXPECT_TRUE(is_own_source(row.source));
    EXPECT_EQ(probe_beside_s(row), 0);
}

}  // namespace
}  // namespace auspex::models
