/// @file Ends of levels from made-up sweeps: with noise, neighbours, missing and wrong words of the system.
#include "compare/fit/cost_models/cache_sizes.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "models/cpu/cache.hpp"
#include "models/cpu/cpu_model.hpp"

namespace auspex::fit {
namespace {

constexpr double kKi = 1024, kMi = 1024 * kKi;

struct Level {
    double end_bytes, then_bytes_per_s;
};

models::Measurement row_of(const char* name, double bytes, double seconds) {
    models::Measurement row;
    row.kind = "host";
    row.name = name;
    row.bytes = bytes;
    row.seconds = seconds;
    return row;
}

/// Passes at `first` bytes a second up to the first end, then ever slower, with relative errors up to `noise`.
std::vector<models::Measurement> sweep(double first, const std::vector<Level>& levels, double noise,
                                       std::uint64_t seed = 1, double largest = 512 * kMi) {
    Rng random(seed);
    std::vector<models::Measurement> rows;
    for (double power = 16 * kKi; power <= largest; power *= 2) {
        for (const double bytes : {power, 1.5 * power}) {
            double byte_s = 1 / first, height = byte_s;
            for (const auto& [end, rate] : levels) {
                byte_s += (1 / rate - height) * models::miss_ratio(end, bytes);
                height = 1 / rate;
            }
            if (bytes <= largest) {
                rows.push_back(row_of("sweep", bytes, bytes * byte_s * (1 + noise * (2 * random.uniform() - 1))));
            }
        }
    }
    return rows;
}

void expect_near(double found, double expected) {
    EXPECT_LE(std::abs(std::log2(found / expected)), 0.5 + 1e-9) << found / kKi << " KiB for " << expected / kKi;
}

bool shows_no_end(const std::vector<models::Measurement>& rows) {
    const CacheSizes sizes = cache_sizes(rows);
    return sizes.own.measured_bytes == 0 && sizes.last_level.measured_bytes == 0;
}

// Ends are found to half an octave with 5 % of noise, whatever the number of levels.
TEST(CacheSizes, ends_of_levels_are_found) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const CacheSizes server =
            cache_sizes(sweep(290e9, {{48 * kKi, 230e9}, {kMi, 88e9}, {32 * kMi, 10e9}}, 0.05, seed));
        expect_near(server.own.measured_bytes, kMi);
        expect_near(server.last_level.measured_bytes, 32 * kMi);
        const CacheSizes small = cache_sizes(sweep(40e9, {{32 * kKi, 20e9}, {512 * kKi, 4e9}}, 0.05, seed));
        expect_near(small.own.measured_bytes, 32 * kKi);
        expect_near(small.last_level.measured_bytes, 512 * kKi);
    }
}

TEST(CacheSizes, noise_and_slow_drifts_are_no_levels) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        EXPECT_TRUE(shows_no_end(sweep(20e9, {}, 0.1, seed))) << seed;
        EXPECT_TRUE(shows_no_end(sweep(20e9, {{8 * kMi, 18e9}}, 0.02, seed))) << "10 % slower";
    }
    EXPECT_TRUE(shows_no_end({}));
    EXPECT_TRUE(shows_no_end({row_of("sweep", kMi, 1e-3)}));
}

// The system's word stands within a factor of two, falls beyond it, and is not needed.
TEST(CacheSizes, measured_wins_over_a_contradicted_or_missing_word) {
    const std::vector<Level> levels{{kMi, 88e9}, {24 * kMi, 10e9}};
    struct Case {
        double told, taken;
        bool is_contradicted;
    };
    for (const auto& [told, taken, is_contradicted] : {Case{32 * kMi, 32 * kMi, false},
                                                       {0, 24 * kMi, false},
                                                       {508 * kMi, 24 * kMi, true},
                                                       {2 * kMi, 24 * kMi, true}}) {
        std::vector<models::Measurement> rows = sweep(230e9, levels, 0.02);
        if (told > 0) {
            rows.push_back(row_of("last_level_cache", told, 0));
        }
        const CacheSize last = cache_sizes(rows).last_level;
        EXPECT_EQ(last.reported_bytes, told);
        expect_near(last.measured_bytes, 24 * kMi);
        EXPECT_EQ(last.is_contradicted(), is_contradicted) << told;
        expect_near(last.bytes(1), taken);
        const auto notes = notes_of(cache_sizes(rows));
        EXPECT_EQ(notes.size(), told == 32 * kMi ? 1U : 2U) << "the own cache is not told either";
    }
}

// Twice what copies show where that is taken, for neighbours may have had a part; what is told or assumed as it is.
TEST(CacheSizes, the_most_that_a_last_level_may_have) {
    EXPECT_EQ(max_bytes({32 * kMi, 0}), 32 * kMi);
    EXPECT_EQ(max_bytes({32 * kMi, 32 * kMi}), 32 * kMi);
    EXPECT_EQ(max_bytes({32 * kMi, 24 * kMi}), 32 * kMi);
    EXPECT_EQ(max_bytes({0, 24 * kMi}), 48 * kMi);
    EXPECT_EQ(max_bytes({508 * kMi, 24 * kMi}), 48 * kMi);
    EXPECT_EQ(max_bytes({0, 0}), models::kAssumedLastLevelBytes);
}

// Between a cache of 24 MiB and memory there is no step where neighbours and pages have parts of it, but a slope, which
// may look like two levels; the last level ends where it is steepest, and a core's own caches before that.
TEST(CacheSizes, a_slope_behind_the_last_level_is_no_level_of_its_own) {
    for (const double told_own : {0.0, kMi}) {
        std::vector<models::Measurement> rows =
            sweep(260e9, {{96 * 1024, 210e9}, {kMi, 98e9}, {24 * kMi, 42e9}, {96 * kMi, 33e9}}, 0.02);
        if (told_own > 0) {
            rows.push_back(row_of("own_cache", told_own, 0));
        }
        const CacheSizes sizes = cache_sizes(rows);
        expect_near(sizes.own.measured_bytes, kMi);
        expect_near(sizes.last_level.measured_bytes, 24 * kMi);
    }
}

// A last level that copies go far beyond without seeing is not there for them.
TEST(CacheSizes, a_told_last_level_that_no_copy_shows_is_contradicted) {
    std::vector<models::Measurement> rows = sweep(230e9, {{kMi, 30e9}}, 0.02);
    rows.push_back(row_of("own_cache", kMi, 0));
    rows.push_back(row_of("last_level_cache", 32 * kMi, 0));
    const CacheSizes sizes = cache_sizes(rows);
    expect_near(sizes.last_level.measured_bytes, kMi);
    EXPECT_TRUE(sizes.last_level.is_contradicted());
    EXPECT_EQ(sizes.own.bytes(1), kMi);
    EXPECT_EQ(notes_of(sizes).size(), 1U);
}

// A sweep that ends inside the last level says nothing of it.
TEST(CacheSizes, a_last_level_beyond_the_sweep_is_as_told) {
    std::vector<models::Measurement> rows = sweep(230e9, {{kMi, 88e9}}, 0.02, 3, 64 * kMi);
    rows.push_back(row_of("own_cache", kMi, 0));
    rows.push_back(row_of("last_level_cache", 256 * kMi, 0));
    const CacheSizes sizes = cache_sizes(rows);
    EXPECT_EQ(sizes.last_level.measured_bytes, 0);
    EXPECT_EQ(sizes.last_level.bytes(1), 256 * kMi);
    EXPECT_EQ(sizes.own.bytes(1), kMi);
    EXPECT_TRUE(notes_of(sizes).empty());
}

TEST(CacheSizes, what_nobody_knows_is_assumed_and_said) {
    const CacheSizes sizes = cache_sizes({});
    EXPECT_EQ(sizes.last_level.bytes(models::kAssumedLastLevelBytes), models::kAssumedLastLevelBytes);
    ASSERT_EQ(notes_of(sizes).size(), 2U);
    EXPECT_NE(notes_of(sizes).back().find("assumed"), std::string::npos);
}

}  // namespace
}  // namespace auspex::fit
