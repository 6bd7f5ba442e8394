/// @file Segments of PyTorch's allocator, by hand, and what holds of any sequence.
#include "schedule/memory/caching_allocator.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "base/rng.hpp"

namespace auspex::schedule {
namespace {

constexpr std::uint64_t kKi = 1024, kMi = 1024 * kKi;
using Sizes = std::vector<std::uint64_t>;

std::uint64_t sum_of(const Sizes& sizes) { return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}); }

/// 1 B is 512 B, 1 MiB is still small: both from one segment of 2 MiB, in which 1 MiB less 512 B are left. 1 MiB more
/// is 512 B too much for that.
TEST(CachingAllocator, small_blocks_share_segments_of_2_mib) {
    CachingAllocator a;
    static_cast<void>(a.allocate(1));
    static_cast<void>(a.allocate(kMi));
    EXPECT_EQ(a.segments(), (Sizes{2 * kMi}));
    EXPECT_EQ(a.allocated(), kMi + 512);
    EXPECT_EQ(a.free_blocks(), (Sizes{kMi - 512}));
    static_cast<void>(a.allocate(kMi));
    EXPECT_EQ(a.segments(), (Sizes{2 * kMi, 2 * kMi}));
}

/// 20 MiB hold six of 3 MiB; the 2 MiB that are left are free, and the seventh has a new segment.
TEST(CachingAllocator, blocks_below_10_mib_share_segments_of_20_mib) {
    CachingAllocator a;
    for (int n = 0; n < 6; ++n) {
        static_cast<void>(a.allocate(3 * kMi));
    }
    EXPECT_EQ(a.segments(), (Sizes{20 * kMi}));
    EXPECT_EQ(a.free_blocks(), (Sizes{2 * kMi}));
    static_cast<void>(a.allocate(3 * kMi));
    EXPECT_EQ(a.reserved(), 40 * kMi);
}

/// 10 MiB and 1 B are 10 MiB and 512 B in a segment of 12 MiB: 2 MiB less 512 B are more than 1 MiB, and are split off.
TEST(CachingAllocator, larger_blocks_have_segments_of_their_own_rounded_to_2_mib) {
    CachingAllocator a;
    static_cast<void>(a.allocate(10 * kMi + 1));
    EXPECT_EQ(a.segments(), (Sizes{12 * kMi}));
    EXPECT_EQ(a.free_blocks(), (Sizes{2 * kMi - 512}));
    static_cast<void>(a.allocate(10 * kMi));
    EXPECT_EQ(a.segments(), (Sizes{12 * kMi, 10 * kMi}));
}

/// Of a free block of 12 MiB 11 MiB leave 1 MiB, which is not more than 1 MiB: all 12 are handed out.
TEST(CachingAllocator, a_megabyte_is_not_split_off_a_large_block) {
    CachingAllocator a;
    a.release(a.allocate(12 * kMi));
    static_cast<void>(a.allocate(11 * kMi));
    EXPECT_EQ(a.allocated(), 12 * kMi);
    EXPECT_TRUE(a.free_blocks().empty());
}

/// Of 40 and 24 MiB, free, 22 MiB come from the 24, and another 22 from the 40.
TEST(CachingAllocator, the_smallest_block_that_is_large_enough_is_taken) {
    CachingAllocator a;
    const auto first = a.allocate(40 * kMi), second = a.allocate(24 * kMi);
    a.release(first);
    a.release(second);
    static_cast<void>(a.allocate(22 * kMi));
    EXPECT_EQ(a.free_blocks(), (Sizes{40 * kMi, 2 * kMi}));
    static_cast<void>(a.allocate(22 * kMi));
    EXPECT_EQ(a.free_blocks(), (Sizes{18 * kMi, 2 * kMi}));
    EXPECT_EQ(a.reserved(), 64 * kMi);
}

/// Of 100 MiB 60 are given back for a segment of 70, as they are free; another of 70 does not fit, and from then on
/// nothing is given back: what does not fit is told by the first of them.
TEST(CachingAllocator, what_does_not_fit_gives_back_once) {
    CachingAllocator a(false, 100 * kMi);
    a.release(a.allocate(60 * kMi));
    const auto large = a.allocate(70 * kMi);
    EXPECT_EQ(a.reserved(), 70 * kMi);
    a.release(large);
    static_cast<void>(a.allocate(20 * kMi));
    EXPECT_EQ(a.reserved(), 70 * kMi);
    static_cast<void>(a.allocate(80 * kMi));
    EXPECT_EQ(a.reserved(), 150 * kMi);
    a.release(a.allocate(60 * kMi));
    EXPECT_EQ(a.reserved(), 210 * kMi);
    static_cast<void>(a.allocate(70 * kMi));
    EXPECT_EQ(a.reserved(), 280 * kMi);
}

/// Three of 4 MiB in 20: the first and the third are released, then the one between them: one free block of 20.
TEST(CachingAllocator, released_neighbours_join) {
    CachingAllocator a;
    const auto first = a.allocate(4 * kMi), second = a.allocate(4 * kMi), third = a.allocate(4 * kMi);
    a.release(first);
    a.release(third);
    EXPECT_EQ(a.free_blocks(), (Sizes{4 * kMi, 12 * kMi}));
    a.release(second);
    EXPECT_EQ(a.free_blocks(), (Sizes{20 * kMi}));
}

TEST(CachingAllocator, a_stream_does_not_get_what_another_has_released) {
    CachingAllocator a;
    a.release(a.allocate(32 * kMi, 1));
    static_cast<void>(a.allocate(32 * kMi, 0));
    EXPECT_EQ(a.segments(), (Sizes{32 * kMi, 32 * kMi}));
    static_cast<void>(a.allocate(32 * kMi, 1));
    EXPECT_EQ(a.reserved(), 64 * kMi);
}

/// 60 of 100 MiB are free, and are given back for 80. 60 that are in use stay, and 80 more are beyond what is there.
TEST(CachingAllocator, free_segments_are_given_back_where_the_device_is_full) {
    CachingAllocator a(false, 100 * kMi);
    a.release(a.allocate(60 * kMi));
    static_cast<void>(a.allocate(80 * kMi));
    EXPECT_EQ(a.segments(), (Sizes{80 * kMi}));
    EXPECT_EQ(a.peak_reserved(), 80 * kMi);
    static_cast<void>(a.allocate(60 * kMi));
    EXPECT_EQ(a.reserved(), 140 * kMi);
}

/// 30 MiB are two pages of 20. Of 15 more 10 are there: one page more, 15 left, of which 5 are used up by the next.
TEST(CachingAllocator, expandable_segments_grow_by_pages) {
    CachingAllocator a(true);
    static_cast<void>(a.allocate(30 * kMi));
    EXPECT_EQ(a.segments(), (Sizes{40 * kMi}));
    static_cast<void>(a.allocate(15 * kMi));
    EXPECT_EQ(a.segments(), (Sizes{60 * kMi}));
    EXPECT_EQ(a.free_blocks(), (Sizes{15 * kMi}));
    static_cast<void>(a.allocate(14 * kMi + 512 * kKi));  // half a megabyte is split off here
    EXPECT_EQ(a.free_blocks(), (Sizes{512 * kKi}));
    static_cast<void>(a.allocate(kKi));
    EXPECT_EQ(a.reserved(), 62 * kMi);  // small ones: a segment of their own, by pages of 2 MiB
}

/// 100 of 100 MiB in five pages: 50 in use at the end, 50 free in front, of which two pages are free as a whole.
TEST(CachingAllocator, expandable_segments_give_back_free_pages) {
    CachingAllocator a(true, 100 * kMi);
    const auto first = a.allocate(50 * kMi);
    static_cast<void>(a.allocate(50 * kMi));
    EXPECT_EQ(a.reserved(), 100 * kMi);
    a.release(first);
    static_cast<void>(a.allocate(60 * kMi));
    EXPECT_EQ(a.reserved(), 100 * kMi - 40 * kMi + 60 * kMi);
}

/// Of 20,000 random allocations and releases on three streams: reserved bytes are those of the segments, free and
/// allocated blocks are all that is in them, and no less is reserved than was ever allocated. Behind the last release
/// every segment is one free block.
TEST(CachingAllocator, nothing_is_lost_in_any_sequence) {
    for (const bool expandable : {false, true}) {
        CachingAllocator a(expandable);
        Rng rng(7);
        std::vector<CachingAllocator::Block> live;
        for (int n = 0; n < 20000; ++n) {
            if (live.empty() || rng.below(100) < 52) {
                const std::uint64_t most = rng.below(3) == 0 ? kMi : 64 * kMi;
                live.push_back(a.allocate(1 + rng.below(most), static_cast<int>(rng.below(3))));
            } else {
                std::swap(live[rng.below(live.size())], live.back());
                a.release(live.back());
                live.pop_back();
            }
            if (n % 500 == 0) {
                ASSERT_EQ(sum_of(a.segments()), a.reserved());
                ASSERT_EQ(sum_of(a.free_blocks()) + a.allocated(), a.reserved());
                ASSERT_GE(a.peak_reserved(), a.peak_allocated());
            }
        }
        for (const CachingAllocator::Block block : live) {
            a.release(block);
        }
        EXPECT_EQ(a.allocated(), 0u);
        EXPECT_EQ(a.free_blocks(), a.segments());
    }
}

}  // namespace
}  // namespace auspex::schedule
