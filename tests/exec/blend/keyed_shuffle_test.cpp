/// @file A shuffle is a permutation, and one of chance.
#include "exec/blend/keyed_shuffle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace auspex::exec {
namespace {

TEST(KeyedShuffle, has_every_number_once) {
    for (const std::int64_t count : {1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 100, 1000, 4096, 4097, 65'537}) {
        for (std::uint64_t turn = 0; turn < 3; ++turn) {
            const KeyedShuffle shuffle(count, 1, 2, turn);
            std::vector<bool> seen(static_cast<std::size_t>(count));
            for (std::int64_t i = 0; i < count; ++i) {
                const std::int64_t found = shuffle.at(i);
                ASSERT_TRUE(found >= 0 && found < count && !seen[static_cast<std::size_t>(found)]) << count;
                seen[static_cast<std::size_t>(found)] = true;
            }
        }
    }
}

TEST(KeyedShuffle, differs_by_seed_stream_and_turn) {
    const auto beginning = [](std::uint64_t seed, std::uint64_t stream, std::uint64_t turn) {
        const KeyedShuffle shuffle(1'000'000, seed, stream, turn);
        std::vector<std::int64_t> rows(20);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = shuffle.at(static_cast<std::int64_t>(i));
        }
        return rows;
    };
    const std::vector<std::vector<std::int64_t>> all{beginning(1, 0, 0), beginning(2, 0, 0), beginning(1, 1, 0),
                                                     beginning(1, 0, 1), beginning(0, 1, 0), beginning(0, 0, 1)};
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_NE(all[i], all[j]);
        }
    }
}

// Where number i goes, over many seeds: chi-square of 99 degrees of freedom, 99.9 % of which are below 148.2; and how
// many stay in their order beside the next one.
TEST(KeyedShuffle, every_place_is_as_likely) {
    constexpr int kCount = 100, kSeeds = 4000;
    for (const std::int64_t number : {0, 1, 50, 99}) {
        std::vector<int> places(kCount);
        for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
            ++places[static_cast<std::size_t>(KeyedShuffle(kCount, seed, 0, 0).at(number))];
        }
        double chi_square = 0;
        constexpr double kExpected = double{kSeeds} / kCount;
        for (const int found : places) {
            chi_square += (found - kExpected) * (found - kExpected) / kExpected;
        }
        EXPECT_LT(chi_square, 160) << number;
    }
    const KeyedShuffle shuffle(100'000, 9, 0, 0);
    int neighbours = 0;
    for (std::int64_t i = 0; i + 1 < 100'000; ++i) {
        neighbours += shuffle.at(i + 1) == shuffle.at(i) + 1 ? 1 : 0;
    }
    EXPECT_LT(neighbours, 8);  // one is expected
}

TEST(KeyedShuffle, takes_numbers_of_many_bits) {
    for (const std::int64_t count :
         {std::int64_t{1} << 40, (std::int64_t{1} << 60) + 12345, std::numeric_limits<std::int64_t>::max()}) {
        const KeyedShuffle shuffle(count, 1, 1, 1);
        for (const std::int64_t i : {std::int64_t{0}, count / 2, count - 1}) {
            EXPECT_GE(shuffle.at(i), 0);
            EXPECT_LT(shuffle.at(i), count);
        }
    }
}

}  // namespace
}  // namespace auspex::exec
