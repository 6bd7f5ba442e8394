#pragma once
/// @file Messages of protocol buffers, read field by field. Nothing is copied, and no length is believed.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/protobuf/protobuf_writer.hpp"

namespace auspex {

/// One field of a message. Numbers are as they stand; `bytes` points into what is read.
struct ProtobufField {
    std::uint32_t number = 0;
    WireType type = WireType::kVarint;
    std::uint64_t value = 0;      ///< of kVarint, kFixed64, kFixed32
    std::string_view bytes = {};  ///< of kBytes
    [[nodiscard]] double as_double() const;
    [[nodiscard]] float as_float() const;
};

/// The varint at the beginning of `bytes`, which is taken from them; none if they end before it does, or if it has more
/// than 64 bits.
[[nodiscard]] std::optional<std::uint64_t> take_varint(std::string_view& bytes);

/// Goes over the fields of one message.
class ProtobufReader {
 public:
    /// `place` names the message in errors, "trace.0.et: node at byte 120", and has to live as long.
    ProtobufReader(std::string_view message, std::string_view place) : whole_(message), left_(message), place_(place) {}

    /// False at the end. Throws InputError for a field that is cut off, a group (which no message of today has), a wire
    /// type that does not exist and a field number of 0.
    bool next(ProtobufField& field);

    /// Throws InputError unless the field has this type; `name` is what the schema calls it.
    void require(const ProtobufField& field, WireType type, const char* name) const;
    [[noreturn]] void refuse(const std::string& what) const;

 private:
    std::string_view whole_, left_, place_;
};

}  // namespace auspex
