/// @file The arena's counts, and what it hands out again.
#include "exec/state/arena.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace auspex::exec {
namespace {

constexpr std::size_t kActivations = static_cast<std::size_t>(schedule::MemoryLabel::kActivations),
                      kWorkspace = static_cast<std::size_t>(schedule::MemoryLabel::kWorkspace);

TEST(Arena, counts_bytes_by_label) {
    Arena arena;
    Buffer<float> a(arena, schedule::MemoryLabel::kActivations, 100);
    {
        const Buffer<double> b(arena, schedule::MemoryLabel::kWorkspace, 10);
        EXPECT_EQ(arena.live()[kActivations], 400U);
        EXPECT_EQ(arena.live()[kWorkspace], 80U);
        EXPECT_EQ(arena.live_bytes(), 480U);
    }
    EXPECT_EQ(arena.live()[kWorkspace], 0U);
    a.reset();
    EXPECT_EQ(arena.live_bytes(), 0U);
    EXPECT_EQ(arena.peak_bytes(), 480U);
}

// Arrays of round sizes that are walked side by side: sixteen in a row begin at places that differ by more than a cache
// line within every 128 KiB, which is what the sets of a core's caches are told apart by.
TEST(Arena, large_arrays_begin_at_places_of_their_own) {
    constexpr std::uintptr_t kSets = std::uintptr_t{128} << 10U, kLine = 64;
    Arena arena;
    std::vector<Buffer<char>> arrays;
    std::set<std::uintptr_t> lines;
    for (int i = 0; i < 16; ++i) {
        arrays.emplace_back(arena, schedule::MemoryLabel::kMoments, std::size_t{1} << 22U);
        const auto begin = reinterpret_cast<std::uintptr_t>(arrays.back().data());
        EXPECT_EQ(begin % kLine, 0U);
        lines.insert(begin % kSets / kLine);
    }
    EXPECT_EQ(lines.size(), 16U);
    EXPECT_EQ(arena.reserved_bytes(), std::size_t{16} << 22U);
}

TEST(Arena, keeps_the_peak_of_a_label_and_what_it_has_at_the_peak_of_all) {
    Arena arena;
    { const Buffer<char> early(arena, schedule::MemoryLabel::kWorkspace, 70); }
    {
        const Buffer<char> a(arena, schedule::MemoryLabel::kActivations, 60),
            b(arena, schedule::MemoryLabel::kWorkspace, 30);
    }
    const Buffer<char> late(arena, schedule::MemoryLabel::kActivations, 80);
    EXPECT_EQ(arena.peaks()[kWorkspace], 70U);
    EXPECT_EQ(arena.peaks()[kActivations], 80U);
    EXPECT_EQ(arena.peak_bytes(), 90U);
    EXPECT_EQ(arena.at_peak()[kActivations], 60U);
    EXPECT_EQ(arena.at_peak()[kWorkspace], 30U);
}

TEST(Arena, peaks_begin_again_from_what_is_live) {
    Arena arena;
    const Buffer<char> stays(arena, schedule::MemoryLabel::kActivations, 50);
    { const Buffer<char> goes(arena, schedule::MemoryLabel::kWorkspace, 500); }
    arena.reset_peaks();
    EXPECT_EQ(arena.peak_bytes(), 50U);
    EXPECT_EQ(arena.peaks()[kWorkspace], 0U);
    EXPECT_EQ(arena.at_peak()[kActivations], 50U);
    EXPECT_EQ(arena.at_peak()[kWorkspace], 0U);
}

TEST(Arena, hands_released_blocks_out_again) {
    Arena arena;
    Buffer<float> buffer(arena, schedule::MemoryLabel::kWorkspace, 1000);
    const float* const first = buffer.data();
    const std::size_t reserved = arena.reserved_bytes();
    EXPECT_GE(reserved, 4000U);
    buffer.reset();
    EXPECT_EQ(arena.reserved_bytes(), reserved);
    const Buffer<std::int32_t> same_size(arena, schedule::MemoryLabel::kActivations, 1000);
    EXPECT_EQ(static_cast<const void*>(same_size.data()), static_cast<const void*>(first));
    EXPECT_EQ(arena.reserved_bytes(), reserved);
}

TEST(Arena, sizes_that_vary_hold_a_bounded_amount) {
    // Blocks are handed out again by size class, of which there are at most 8 an octave: less than 16 times the
    // largest.
    Arena arena;
    for (std::size_t bytes = 1; bytes < 100'000; bytes += 37) {
        const Buffer<char> buffer(arena, schedule::MemoryLabel::kWorkspace, bytes);
        ASSERT_LE(arena.reserved_bytes(), 16U * 100'000) << "after a buffer of " << bytes;
    }
}

TEST(Arena, a_block_is_at_most_an_eighth_larger_than_asked) {
    // Classes are an eighth of an octave apart, and multiples of 64 bytes.
    for (const std::size_t bytes : {1U, 63U, 64U, 65U, 512U, 513U, 1000U, 4097U, 65'537U, 1'000'003U}) {
        Arena arena;
        const Buffer<char> buffer(arena, schedule::MemoryLabel::kWorkspace, bytes);
        EXPECT_GE(arena.reserved_bytes(), bytes);
        EXPECT_LE(arena.reserved_bytes(), bytes + bytes / 8 + 63) << bytes;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
    }
}

TEST(Arena, nothing_costs_nothing) {
    Arena arena;
    const Buffer<double> none(arena, schedule::MemoryLabel::kWorkspace, 0);
    EXPECT_EQ(none.data(), nullptr);
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(arena.peak_bytes(), 0U);
    EXPECT_EQ(arena.reserved_bytes(), 0U);
}

TEST(Arena, moved_buffers_are_released_once) {
    Arena arena;
    Buffer<char> a(arena, schedule::MemoryLabel::kWorkspace, 10), b(arena, schedule::MemoryLabel::kActivations, 20);
    char* const data = a.data();
    b = std::move(a);
    EXPECT_EQ(b.data(), data);
    EXPECT_EQ(b.size(), 10U);
    EXPECT_EQ(arena.live_bytes(), 10U);
    EXPECT_EQ(arena.live()[kActivations], 0U);
}

TEST(ArenaDeathTest, a_buffer_may_not_outlive_its_arena) {
    EXPECT_DEATH(
        {
            Arena arena;
            (void)arena.allocate(schedule::MemoryLabel::kWorkspace, 8);
        },
        "outlives");
}

}  // namespace
}  // namespace auspex::exec
