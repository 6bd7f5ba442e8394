/// @file Fields off the front of a message.
#include "base/protobuf/protobuf_reader.hpp"

#include <bit>

#include "base/error.hpp"

namespace auspex {
namespace {

/// Little-endian. Requires enough bytes.
std::uint64_t take_fixed(std::string_view& bytes, std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    bytes.remove_prefix(count);
    return value;
}

}  // namespace

double ProtobufField::as_double() const { return std::bit_cast<double>(value); }
float ProtobufField::as_float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(value)); }

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
    constexpr std::size_t kLongest = 10;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size() && i < kLongest; ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (i + 1 == kLongest && byte > 1) {
            return std::nullopt;
        }
        value |= std::uint64_t{byte & 0x7fU} << (7 * i);
        if (byte < 0x80) {
            bytes.remove_prefix(i + 1);
            return value;
        }
    }
    return std::nullopt;
}

bool ProtobufReader::next(ProtobufField& field) {
    constexpr std::uint64_t kLargestField = (1U << 29U) - 1;
    if (left_.empty()) {
        return false;
    }
    const std::optional<std::uint64_t> key = take_varint(left_);
    if (!key || *key >> 3U == 0 || *key >> 3U > kLargestField) {
        refuse("found no key of a field; expected a number from 1 to 2^29 - 1 with a wire type");
    }
    field = ProtobufField();
    field.number = static_cast<std::uint32_t>(*key >> 3U);
    field.type = static_cast<WireType>(*key & 7U);
    const auto name = [&field] { return "field " + std::to_string(field.number); };
    if (field.type == WireType::kVarint) {
        const std::optional<std::uint64_t> value = take_varint(left_);
        if (!value) {
            refuse("found " + name() + " with a number that is cut off or longer than 64 bits");
        }
        field.value = *value;
    } else if (field.type == WireType::kFixed64 || field.type == WireType::kFixed32) {
        const std::size_t size = field.type == WireType::kFixed64 ? 8 : 4;
        if (left_.size() < size) {
            refuse("found " + name() + " cut off: " + std::to_string(left_.size()) + " of " + std::to_string(size) +
                   " bytes are there");
        }
        field.value = take_fixed(left_, size);
    } else if (field.type == WireType::kBytes) {
        const std::optional<std::uint64_t> size = take_varint(left_);
        if (!size || *size > left_.size()) {
            refuse("found " + name() + (size ? " of " + std::to_string(*size) + " bytes" : "") + " where only " +
                   std::to_string(left_.size()) + " are left");
        }
        field.bytes = left_.substr(0, *size);
        left_.remove_prefix(*size);
    } else {
        refuse("found " + name() + " with wire type " + std::to_string(static_cast<int>(field.type)) +
               "; expected 0, 1, 2 or 5");
    }
    return true;
}

void ProtobufReader::require(const ProtobufField& field, WireType type, const char* name) const {
    if (field.type != type) {
        refuse(std::string("found ") + name + " (field " + std::to_string(field.number) + ") with wire type " +
               std::to_string(static_cast<int>(field.type)) + "; expected " + std::to_string(static_cast<int>(type)));
    }
}

void ProtobufReader::refuse(const std::string& what) const {
    throw InputError(std::string(place_),
                     "byte " + std::to_string(whole_.size() - left_.size()) + " of the message: " + what);
}

}  // namespace auspex
