/// @file Blocks in segments: best fit, split, joined.
#include "schedule/memory/caching_allocator.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace auspex::schedule {
namespace {

constexpr std::uint64_t kMi = 1024 * 1024;
constexpr std::uint64_t kLeastBlock = 512;              // kMinBlockSize
constexpr std::uint64_t kLargestSmall = kMi;            // kSmallSize
constexpr std::uint64_t kSmallSegment = 2 * kMi;        // kSmallBuffer
constexpr std::uint64_t kLargeSegment = 20 * kMi;       // kLargeBuffer
constexpr std::uint64_t kLeastOwnSegment = 10 * kMi;    // kMinLargeAlloc
constexpr std::uint64_t kSegmentRounding = 2 * kMi;     // kRoundLarge
constexpr std::uint64_t kSegmentAlignment = 512 * kMi;  // of made-up addresses: apart, so that none are neighbours

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

std::uint64_t segment_of(std::uint64_t bytes) {
    return bytes <= kLargestSmall     ? kSmallSegment
           : bytes < kLeastOwnSegment ? kLargeSegment
                                      : rounded_up(bytes, kSegmentRounding);
}

}  // namespace

CachingAllocator::Block CachingAllocator::allocate(std::uint64_t bytes, int stream) {
    AUSPEX_CHECK(bytes > 0, "an allocation has a size");
    const std::uint64_t size = rounded_up(bytes, kLeastBlock);
    const int pool = 2 * stream + (size <= kLargestSmall ? 1 : 0);
    Block block = find_free(pool, size);
    if (block == kNone) {
        block = expandable_ ? grow(pool, size) : reserve(pool, size);
    }
    split(block, size);
    allocated_ += pieces_[block].bytes;
    peak_allocated_ = std::max(peak_allocated_, allocated_);
    return block;
}

void CachingAllocator::release(Block block) {
    AUSPEX_CHECK(block < pieces_.size() && !pieces_[block].free, "only allocated blocks are released");
    allocated_ -= pieces_[block].bytes;
    pieces_[block].free = true;
    if (const Block behind = pieces_[block].behind; behind != kNone && pieces_[behind].free) {
        erase_free(behind);
        join(block);
    }
    if (const Block before = pieces_[block].before; before != kNone && pieces_[before].free) {
        erase_free(before);
        join(before);
        block = before;
    }
    insert_free(block);
}

CachingAllocator::Block CachingAllocator::find_free(int pool, std::uint64_t bytes) {
    const auto found = free_.lower_bound({pool, bytes, 0, 0});
    if (found == free_.end() || std::get<0>(*found) != pool) {
        return kNone;
    }
    const Block block = std::get<Block>(*found);
    nodes_.push_back(free_.extract(found));
    pieces_[block].free = false;
    return block;
}

CachingAllocator::Block CachingAllocator::reserve(int pool, std::uint64_t bytes) {
    const std::uint64_t segment = segment_of(bytes);
    make_room(segment);
    const Block block = new_piece({next_address_, segment, pool, false, kNone, kNone});
    next_address_ += rounded_up(segment + 1, kSegmentAlignment);
    reserved_ += segment;
    peak_reserved_ = std::max(peak_reserved_, reserved_);
    return block;
}

/// Maps pages behind the last piece, of which a free one is a part of what is made.
CachingAllocator::Block CachingAllocator::grow(int pool, std::uint64_t bytes) {
    const std::uint64_t page = is_small(pool) ? kSmallSegment : kLargeSegment;
    constexpr std::uint64_t kApart = std::uint64_t{1} << 56;  // of the address spaces of two pools
    const auto free_at_end = [&]() -> std::uint64_t {
        const auto last = last_.find(pool);
        return last != last_.end() && pieces_[last->second].free ? pieces_[last->second].bytes : 0;
    };
    make_room(rounded_up(bytes - free_at_end(), page));
    const std::uint64_t more = rounded_up(bytes - free_at_end(), page);  // room may have been made at the end
    reserved_ += more;
    peak_reserved_ = std::max(peak_reserved_, reserved_);
    const auto [last, is_first] = last_.try_emplace(pool, kNone);
    if (is_first) {
        return last->second = new_piece({static_cast<std::uint64_t>(pool) * kApart, more, pool, false, kNone, kNone});
    }
    const Block end = last->second;
    if (pieces_[end].free) {
        erase_free(end);
        pieces_[end].free = false;
        pieces_[end].bytes += more;
        return end;
    }
    const Block block = new_piece({pieces_[end].address + pieces_[end].bytes, more, pool, false, end, kNone});
    pieces_[end].behind = block;
    return last_[pool] = block;
}

/// Gives back what is free as a whole, all of it, if `bytes` more would be too many.
void CachingAllocator::make_room(std::uint64_t bytes) {
    if (reserved_ + bytes <= capacity_ || is_full_) {
        return;
    }
    std::vector<Block> blocks;
    for (const auto& [pool, size, address, block] : free_) {
        const bool is_whole = pieces_[block].before == kNone && pieces_[block].behind == kNone;
        if (expandable_ || is_whole) {
            blocks.push_back(block);
        }
    }
    std::ranges::for_each(blocks, [this](Block block) { give_back(block); });
    is_full_ = reserved_ + bytes > capacity_;
}

/// Of a growing segment the pages of a free piece that nothing else is on: its place stays empty, and is not free.
void CachingAllocator::give_back(Block block) {
    Piece& piece = pieces_[block];
    if (!expandable_) {
        erase_free(block);
        reserved_ -= piece.bytes;
        unused_.push_back(block);
        piece = {};
        return;
    }
    const std::uint64_t page = is_small(piece.pool) ? kSmallSegment : kLargeSegment;
    const std::uint64_t begin = rounded_up(piece.address, page), end = (piece.address + piece.bytes) / page * page;
    if (end <= begin) {
        return;
    }
    erase_free(block);
    piece.free = false;
    if (begin > piece.address) {
        const Block head = block;
        split(head, begin - piece.address);  // leaves the pages and what is behind them free
        block = pieces_[head].behind;
        erase_free(block);
        pieces_[block].free = false;
        pieces_[head].free = true;
        insert_free(head);
    }
    split(block, end - begin);
    reserved_ -= end - begin;
}

void CachingAllocator::split(Block block, std::uint64_t bytes) {
    const std::uint64_t left = pieces_[block].bytes - bytes;
    const bool any = expandable_ || is_small(pieces_[block].pool);
    if (any ? left < kLeastBlock : left <= kLargestSmall) {
        return;
    }
    const Piece whole = pieces_[block];
    const Block rest = new_piece({whole.address + bytes, left, whole.pool, true, block, whole.behind});
    pieces_[block].bytes = bytes;
    pieces_[block].behind = rest;
    if (whole.behind != kNone) {
        pieces_[whole.behind].before = rest;
    } else if (expandable_) {
        last_[whole.pool] = rest;
    }
    insert_free(rest);
}

void CachingAllocator::join(Block block) {
    const Block behind = pieces_[block].behind;
    pieces_[block].bytes += pieces_[behind].bytes;
    pieces_[block].behind = pieces_[behind].behind;
    if (pieces_[block].behind != kNone) {
        pieces_[pieces_[block].behind].before = block;
    } else if (expandable_) {
        last_[pieces_[block].pool] = block;
    }
    pieces_[behind] = {};
    unused_.push_back(behind);
}

CachingAllocator::Block CachingAllocator::new_piece(const Piece& piece) {
    if (unused_.empty()) {
        pieces_.push_back(piece);
        return static_cast<Block>(pieces_.size() - 1);
    }
    const Block block = unused_.back();
    unused_.pop_back();
    pieces_[block] = piece;
    return block;
}

void CachingAllocator::insert_free(Block block) {
    const Piece& piece = pieces_[block];
    if (nodes_.empty()) {
        free_.emplace(piece.pool, piece.bytes, piece.address, block);
        return;
    }
    nodes_.back().value() = {piece.pool, piece.bytes, piece.address, block};
    free_.insert(std::move(nodes_.back()));
    nodes_.pop_back();
}

void CachingAllocator::erase_free(Block block) {
    nodes_.push_back(free_.extract({pieces_[block].pool, pieces_[block].bytes, pieces_[block].address, block}));
}

std::vector<std::uint64_t> CachingAllocator::segments() const {
    std::map<std::uint64_t, std::uint64_t> by_address;
    for (const Piece& first : pieces_) {
        if (first.bytes == 0 || first.before != kNone) {
            continue;
        }
        std::uint64_t& bytes = by_address[first.address];
        for (const Piece* piece = &first;; piece = &pieces_[piece->behind]) {
            bytes += piece->bytes;
            if (piece->behind == kNone) {
                break;
            }
        }
    }
    std::vector<std::uint64_t> sizes;
    std::ranges::transform(by_address, std::back_inserter(sizes), [](const auto& one) { return one.second; });
    return sizes;
}

std::vector<std::uint64_t> CachingAllocator::free_blocks() const {
    std::map<std::uint64_t, std::uint64_t> by_address;
    for (const auto& [pool, bytes, address, block] : free_) {
        by_address[address] = bytes;
    }
    std::vector<std::uint64_t> sizes;
    std::ranges::transform(by_address, std::back_inserter(sizes), [](const auto& one) { return one.second; });
    return sizes;
}

}  // namespace auspex::schedule
