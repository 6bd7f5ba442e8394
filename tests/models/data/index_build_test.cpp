/// @file Times of an index by hand.
#include "models/data/index_build.hpp"

#include <gtest/gtest.h>

namespace auspex::models {
namespace {

TEST(IndexBuild, has_the_sequences_that_hold_the_tokens) {
    EXPECT_EQ(index_of_tokens(2e12, 4096, 20).sequences, 488'281'250);
    EXPECT_EQ(index_of_tokens(4097, 4096, 1).sequences, 2);
}

// 20 sources: 20 * 1 ns + 40 ns = 60 ns a sequence, 29.3 s; 7451 blocks, 1863 on each of 4 ranks; 4.88 GB.
TEST(IndexBuild, is_shared_block_by_block) {
    const IndexBuild build = index_of_tokens(2e12, 4096, 20);
    IndexBuildRates rates{1e-9, 40e-9, 10e9, 2};
    const IndexBuildTime four = index_build_time(build, 4, rates);
    EXPECT_NEAR(four.serial_s, 29.296875, 1e-9);
    EXPECT_NEAR(four.parallel_s, 2 + 1863 * 65'536 * 60e-9, 1e-9);
}

TEST(IndexBuild, is_no_faster_than_its_file_is_written) {
    const IndexBuild build = index_of_tokens(2e12, 4096, 20);
    const IndexBuildTime many = index_build_time(build, 10'000, {1e-9, 40e-9, 1e9, 2});
    EXPECT_NEAR(many.parallel_s, 2 + 4.8828125, 1e-9);
    EXPECT_NEAR(index_build_time(build, 10'000, {1e-9, 40e-9, 1e8, 2}).serial_s, 48.828125, 1e-9);
}

TEST(IndexBuild, of_one_block_gains_nothing_from_ranks) {
    IndexBuild build;
    build.sequences = 1000;
    const IndexBuildRates rates{1e-9, 40e-9, 1e12, 0};
    EXPECT_EQ(index_build_time(build, 16, rates).parallel_s, index_build_time(build, 16, rates).serial_s);
}

}  // namespace
}  // namespace auspex::models
