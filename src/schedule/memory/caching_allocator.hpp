#pragma once
/// @file PyTorch's caching allocator: what it reserves of the device for a sequence of allocations and releases.
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace auspex::schedule {

/// c10/cuda/CUDACachingAllocator.cpp, whose rules c10/xpu/XPUCachingAllocator.cpp has as well. Sizes are rounded up to
/// 512 B. Those of at most 1 MiB come from segments of 2 MiB; of what is larger, those below 10 MiB from segments of 20
/// MiB, others from one of their own, rounded up to 2 MiB. The smallest free block of the pool and the stream that is
/// large enough is taken (of alike ones the lowest), and split where more than 1 MiB is left, of small ones 512 B.
/// A released block joins its free neighbours in the segment, and is there for its stream alone. Where a new segment
/// would be more than `capacity`, all segments that are free as a whole are given back first; if that is not enough the
/// segment is there all the same, so that reserved() > capacity says that it does not fit, and nothing is given back
/// any more. With `expandable` (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True) a pool of a stream is one segment
/// that grows at its end, by multiples of 20 MiB, of small ones 2 MiB, and is split wherever 512 B are left. Not
/// modelled: max_split_size, rounding to powers of two, garbage collection below the capacity, graphs' own pools, and
/// blocks that another stream still uses (record_stream), which FSDP2 does without.
class CachingAllocator {
 public:
    using Block = std::uint32_t;
    explicit CachingAllocator(bool expandable = false, std::uint64_t capacity = kNoLimit)
        : expandable_(expandable), capacity_(capacity) {}
    /// Of `bytes` > 0 for a stream.
    [[nodiscard]] Block allocate(std::uint64_t bytes, int stream = 0);
    /// Of a block that is allocated.
    void release(Block block);

    /// Bytes of all segments, and of all blocks that are allocated; the most of each since the last reset_peaks().
    [[nodiscard]] std::uint64_t reserved() const { return reserved_; }
    [[nodiscard]] std::uint64_t allocated() const { return allocated_; }
    [[nodiscard]] std::uint64_t peak_reserved() const { return peak_reserved_; }
    [[nodiscard]] std::uint64_t peak_allocated() const { return peak_allocated_; }
    void reset_peaks() { peak_reserved_ = reserved_, peak_allocated_ = allocated_; }
    /// Sizes of segments, in the order in which they were reserved, and of the free blocks, in order of addresses.
    [[nodiscard]] std::vector<std::uint64_t> segments() const;
    [[nodiscard]] std::vector<std::uint64_t> free_blocks() const;

 private:
    static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
    static constexpr Block kNone = std::numeric_limits<Block>::max();
    /// A piece of a segment; `before` and `behind` are its neighbours there.
    struct Piece {
        std::uint64_t address = 0, bytes = 0;
        int pool = 0;  ///< of a stream: 2 s + 1 of small blocks, else 2 s
        bool free = false;
        Block before = kNone, behind = kNone;
    };
    using FreeBlocks = std::set<std::tuple<int, std::uint64_t, std::uint64_t, Block>>;  ///< by pool, bytes, address
    [[nodiscard]] static bool is_small(int pool) { return pool % 2 == 1; }
    [[nodiscard]] Block new_piece(const Piece& piece);
    [[nodiscard]] Block find_free(int pool, std::uint64_t bytes);
    [[nodiscard]] Block reserve(int pool, std::uint64_t bytes);
    [[nodiscard]] Block grow(int pool, std::uint64_t bytes);
    void make_room(std::uint64_t bytes);
    void give_back(Block block);
    void split(Block block, std::uint64_t bytes);
    /// Joins `block` with the one behind it.
    void join(Block block);
    void insert_free(Block block);
    void erase_free(Block block);

    bool expandable_, is_full_ = false;
    std::uint64_t capacity_;
    std::uint64_t reserved_ = 0, allocated_ = 0, peak_reserved_ = 0, peak_allocated_ = 0, next_address_ = 0;
    std::vector<Piece> pieces_;
    std::vector<Block> unused_;  ///< places of `pieces_`
    FreeBlocks free_;
    std::vector<FreeBlocks::node_type> nodes_;  ///< of blocks that were free
    std::map<int, Block> last_;                 ///< of growing segments: their last piece
};

}  // namespace auspex::schedule
