/// @file Bytes.
#include "report/timeline/byte_text.hpp"

namespace auspex::report {

void ByteText::add_whole(std::uint64_t value) {
    while (value >= 0x80) {
        bytes_ += static_cast<char>(0x80 | (value & 0x7f));
        value >>= 7;
    }
    bytes_ += static_cast<char>(value);
}

void ByteText::add_signed(std::int64_t value) {
    add_whole(value >= 0 ? 2 * static_cast<std::uint64_t>(value) : 2 * static_cast<std::uint64_t>(-(value + 1)) + 1);
}

std::string ByteText::base64() const {
    constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes_.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes_.size(); at += 3) {
        std::uint32_t three = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            three = three << 8 | (at + i < bytes_.size() ? static_cast<unsigned char>(bytes_[at + i]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            out += at + i <= bytes_.size() ? kDigits[three >> (18 - 6 * i) & 0x3f] : '=';
        }
    }
    return out;
}

}  // namespace auspex::report
