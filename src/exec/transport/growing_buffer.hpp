#pragma once
/// @file Memory that a transport works in, call after call.
#include <cstddef>
#include <memory>

namespace auspex::exec {

/// Memory that grows and is kept.
class GrowingBuffer {
 public:
    std::byte* of(std::size_t bytes) {
        if (bytes > size_) {
            data_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
            size_ = bytes;
        }
        return data_.get();
    }
    [[nodiscard]] std::size_t size() const { return size_; }

 private:
    std::unique_ptr<std::byte[]> data_;
    std::size_t size_ = 0;
};

}  // namespace auspex::exec
