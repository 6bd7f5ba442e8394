#pragma once
/// @file All memory of a rank that the memory model speaks of, counted by label.
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "schedule/memory/memory_label.hpp"

namespace auspex::exec {

/// Bytes are counted as asked for. Blocks are 64-byte aligned and up to an eighth larger than asked (a multiple of 64);
/// released ones are kept by size and handed out again. What is held beyond live bytes is fragmentation:
/// reserved_bytes() - live_bytes(), without up to 308 KB in front of a large block that are never touched.
class Arena {
 public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    /// Aborts if anything is still live.
    ~Arena();

    /// Not initialised. Zero bytes give a null pointer and count nothing. Throws std::bad_alloc.
    [[nodiscard]] void* allocate(schedule::MemoryLabel label, std::size_t bytes);
    void release(schedule::MemoryLabel label, void* block, std::size_t bytes);

    [[nodiscard]] const schedule::LabelBytes& live() const { return live_; }
    /// Of each label, the most that was ever live (since reset_peaks).
    [[nodiscard]] const schedule::LabelBytes& peaks() const { return peaks_; }
    [[nodiscard]] std::size_t live_bytes() const { return live_sum_; }
    /// Most live bytes over all labels, and by label at that moment.
    [[nodiscard]] std::size_t peak_bytes() const { return peak_sum_; }
    [[nodiscard]] const schedule::LabelBytes& at_peak() const { return at_peak_; }
    /// What is held of the system, live or kept.
    [[nodiscard]] std::size_t reserved_bytes() const { return reserved_; }
    /// Peaks begin again from what is live now.
    void reset_peaks();

 private:
    struct Free {
        void operator()(void* whole) const;
    };
    [[nodiscard]] void* fresh(std::size_t size);

    std::vector<std::unique_ptr<void, Free>> owned_;
    std::size_t staggered_ = 0;  ///< large blocks so far
    schedule::LabelBytes live_{}, peaks_{}, at_peak_{};
    std::size_t live_sum_ = 0, peak_sum_ = 0, reserved_ = 0;
    std::map<std::size_t, std::vector<void*>> kept_;  ///< by size of the block
};

/// An array that lives in an arena; empty when default-made or reset.
template <typename T>
class Buffer {
 public:
    Buffer() = default;
    Buffer(Arena& arena, schedule::MemoryLabel label, std::size_t count)
        : arena_(&arena),
          label_(label),
          data_(static_cast<T*>(arena.allocate(label, count * sizeof(T)))),
          size_(count) {}
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        Buffer moved(std::move(other));
        swap(moved);
        return *this;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { reset(); }

    void reset() {
        if (arena_ != nullptr) {
            arena_->release(label_, data_, size_ * sizeof(T));
        }
        arena_ = nullptr, data_ = nullptr, size_ = 0;
    }
    [[nodiscard]] T* data() { return data_; }
    [[nodiscard]] const T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] schedule::MemoryLabel label() const { return label_; }
    [[nodiscard]] std::span<T> span() { return {data_, size_}; }
    [[nodiscard]] std::span<const T> span() const { return {data_, size_}; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

 private:
    void swap(Buffer& other) noexcept {
        std::swap(arena_, other.arena_), std::swap(label_, other.label_);
        std::swap(data_, other.data_), std::swap(size_, other.size_);
    }
    Arena* arena_ = nullptr;
    schedule::MemoryLabel label_ = schedule::MemoryLabel::kWorkspace;
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace auspex::exec
