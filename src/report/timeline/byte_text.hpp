#pragma once
/// @file Whole numbers as few bytes, and bytes as text.
#include <cstdint>
#include <string>

namespace auspex::report {

/// Numbers in groups of seven bits, the lowest first, the highest bit of a byte set if more follow.
class ByteText {
 public:
    void add_whole(std::uint64_t value);
    /// 0, −1, 1, −2, … as 0, 1, 2, 3, …
    void add_signed(std::int64_t value);
    void append(const ByteText& other) { bytes_ += other.bytes_; }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] std::string base64() const;

 private:
    std::string bytes_;
};

}  // namespace auspex::report
