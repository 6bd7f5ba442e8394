/// @file What there is of each label, and its most, as operations make and release.
#include <algorithm>

#include "schedule/memory/memory_walk.hpp"

namespace auspex::schedule {
namespace {

std::size_t index_of(MemoryLabel label) { return static_cast<std::size_t>(label); }

}  // namespace

void MemoryTally::make(Tensors& tensors, MemoryLabel label, std::uint64_t bytes) {
    const auto more =
        leaves_out_activations_ && label == MemoryLabel::kActivations ? 0 : static_cast<std::int64_t>(bytes);
    tensors.bytes[index_of(label)] += more;
    result_.change[index_of(label)] += more;
    result_.label_peaks[index_of(label)] =
        std::max(result_.label_peaks[index_of(label)], result_.change[index_of(label)]);
    sum_ += more;
    if (allocator_ != nullptr && allocates_ && more > 0) {
        tensors.blocks.push_back(allocator_->allocate(static_cast<std::uint64_t>(more)));
    }
}

void MemoryTally::release(Tensors& tensors) {
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        dying_[i] += tensors.bytes[i];
    }
    dying_blocks_.insert(dying_blocks_.end(), tensors.blocks.begin(), tensors.blocks.end());
    tensors = {};
}

void MemoryTally::adopt(Tensors& tensors, MemoryLabel label, std::uint64_t bytes) {
    tensors.bytes[index_of(label)] += static_cast<std::int64_t>(bytes);
}

void MemoryTally::move(Tensors& from, Tensors& to) {
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        to.bytes[i] += from.bytes[i];
    }
    to.blocks.insert(to.blocks.end(), from.blocks.begin(), from.blocks.end());
    from = {};
}

void MemoryTally::replace(Tensors& tensors, MemoryLabel label, std::uint64_t bytes) {
    release(tensors);
    make(tensors, label, bytes);
}

void MemoryTally::shrink(Tensors& tensors, MemoryLabel label, std::uint64_t bytes) {
    std::int64_t& held = tensors.bytes[index_of(label)];
    dying_[index_of(label)] += held - static_cast<std::int64_t>(bytes);
    held = static_cast<std::int64_t>(bytes);
}

void MemoryTally::make_for_now(MemoryLabel label, std::uint64_t bytes) {
    Tensors tensors;
    make(tensors, label, bytes);
    release(tensors);
}

void MemoryTally::end_operation(std::uint32_t operation) {
    if (sum_ > result_.peak) {
        result_.peak = sum_;
        result_.at_peak = result_.change;
        result_.operation = operation;
    }
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        result_.change[i] -= dying_[i];
        sum_ -= dying_[i];
    }
    dying_ = {};
    for (const CachingAllocator::Block block : dying_blocks_) {
        allocator_->release(block);
    }
    dying_blocks_.clear();
}

}  // namespace auspex::schedule
