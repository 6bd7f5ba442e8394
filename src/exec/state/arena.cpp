/// @file Blocks by size class, counted by label.
#include "exec/state/arena.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "base/error.hpp"

namespace auspex::exec {
namespace {

constexpr std::align_val_t kAlignment{64};

/// The size of the block that holds `bytes`: eight sizes to a doubling, so that tensors whose rows vary with the
/// routing meet blocks that were kept.
std::size_t block_size(std::size_t bytes) {
    const std::size_t step = std::max<std::size_t>(64, std::bit_floor(bytes - 1) / 8);
    return (bytes + step - 1) / step * step;
}

}  // namespace

Arena::~Arena() {
    AUSPEX_CHECK(live_sum_ == 0, "a buffer outlives its arena");
    for (const auto& [size, blocks] : kept_) {
        for (void* const block : blocks) {
            ::operator delete(block, kAlignment);
        }
    }
}

void* Arena::allocate(schedule::MemoryLabel label, std::size_t bytes) {
    if (bytes == 0) {
        return nullptr;
    }
    const std::size_t size = block_size(bytes);
    std::vector<void*>& kept = kept_[size];
    void* block = nullptr;
    if (kept.empty()) {
        block = ::operator new(size, kAlignment);
        reserved_ += size;
    } else {
        block = kept.back();
        kept.pop_back();
    }
    const auto l = static_cast<std::size_t>(label);
    live_[l] += bytes;
    live_sum_ += bytes;
    peaks_[l] = std::max(peaks_[l], live_[l]);
    if (live_sum_ > peak_sum_) {
        peak_sum_ = live_sum_;
        at_peak_ = live_;
    }
    return block;
}

void Arena::release(schedule::MemoryLabel label, void* block, std::size_t bytes) {
    if (bytes == 0) {
        return;
    }
    const auto l = static_cast<std::size_t>(label);
    AUSPEX_CHECK(live_[l] >= bytes, "more is released than was allocated");
    live_[l] -= bytes;
    live_sum_ -= bytes;
    kept_[block_size(bytes)].push_back(block);
}

void Arena::reset_peaks() {
    peaks_ = at_peak_ = live_;
    peak_sum_ = live_sum_;
}

}  // namespace auspex::exec
