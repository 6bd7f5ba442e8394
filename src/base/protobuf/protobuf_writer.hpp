#pragma once
/// @file Messages of protocol buffers, written by hand: varints, fixed numbers and length-delimited fields.
/// Source of the encoding: protobuf.dev, "Encoding".
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace auspex {

/// The low three bits of a field's key.
enum class WireType : std::uint8_t {
    kVarint = 0,
    kFixed64 = 1,
    kBytes = 2,
    kGroupBegin = 3,
    kGroupEnd = 4,
    kFixed32 = 5
};

/// Appends fields to one message; parts of it are messages of their own. `clear` keeps the memory.
class ProtobufWriter {
 public:
    ProtobufWriter& varint(std::uint32_t field, std::uint64_t value) {
        key(field, WireType::kVarint);
        append_varint(value);
        return *this;
    }
    /// int32, int64 and enum: ten bytes where below 0.
    ProtobufWriter& signed_varint(std::uint32_t field, std::int64_t value) {
        return varint(field, static_cast<std::uint64_t>(value));
    }
    ProtobufWriter& flag(std::uint32_t field, bool value) { return varint(field, value ? 1 : 0); }
    ProtobufWriter& fixed64(std::uint32_t field, std::uint64_t value) {
        key(field, WireType::kFixed64);
        for (int shift = 0; shift < 64; shift += 8) {
            bytes_.push_back(static_cast<char>(value >> static_cast<unsigned>(shift)));
        }
        return *this;
    }
    ProtobufWriter& number(std::uint32_t field, double value) {
        return fixed64(field, std::bit_cast<std::uint64_t>(value));
    }
    /// Text, bytes, or a message.
    ProtobufWriter& bytes(std::uint32_t field, std::string_view value) {
        key(field, WireType::kBytes);
        append_varint(value.size());
        bytes_.append(value);
        return *this;
    }
    ProtobufWriter& message(std::uint32_t field, const ProtobufWriter& part) { return bytes(field, part.view()); }

    /// All fields of another one.
    ProtobufWriter& append(const ProtobufWriter& more) {
        bytes_.append(more.bytes_);
        return *this;
    }

    /// A number by itself, without a key: of packed lists, and in front of a message in a stream of messages.
    void append_varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) {
            bytes_.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
        }
        bytes_.push_back(static_cast<char>(value));
    }

    [[nodiscard]] std::string_view view() const { return bytes_; }
    [[nodiscard]] bool is_empty() const { return bytes_.empty(); }
    void clear() { bytes_.clear(); }

 private:
    void key(std::uint32_t field, WireType type) {
        append_varint(std::uint64_t{field} << 3U | static_cast<std::uint64_t>(type));
    }
    std::string bytes_;
};

}  // namespace auspex
