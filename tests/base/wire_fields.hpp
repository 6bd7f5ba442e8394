#pragma once
/// @file Fields of a protobuf message, taken apart by code of the tests' own: what writers are judged by.
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace auspex::testing_wire {

struct WireField {
    std::uint64_t number = 0, type = 0, value = 0;
    std::string bytes;
    [[nodiscard]] double real() const {
        double number_of = 0;
        std::memcpy(&number_of, &value, sizeof number_of);
        return number_of;
    }
};

inline std::uint64_t varint_at(const std::string& from, std::size_t& at) {
    std::uint64_t value = 0, place = 1;
    while (true) {
        const auto byte = static_cast<unsigned char>(from.at(at++));
        value += place * (byte % 128);
        if (byte < 128) {
            return value;
        }
        place *= 128;
    }
}

/// Throws for anything that is not a whole message.
inline std::vector<WireField> fields_of(const std::string& message) {
    std::vector<WireField> fields;
    for (std::size_t at = 0; at < message.size();) {
        WireField field;
        const std::uint64_t key = varint_at(message, at);
        field.number = key / 8;
        field.type = key % 8;
        if (field.type == 0) {
            field.value = varint_at(message, at);
        } else if (field.type == 1 || field.type == 5) {
            const std::size_t size = field.type == 1 ? 8 : 4;
            for (std::size_t i = 0; i < size; ++i) {
                field.value += static_cast<std::uint64_t>(static_cast<unsigned char>(message.at(at + i))) << (8 * i);
            }
            at += size;
        } else if (field.type == 2) {
            const std::uint64_t size = varint_at(message, at);
            if (size > message.size() - at) {
                throw std::out_of_range("a field beyond the end");
            }
            field.bytes = message.substr(at, size);
            at += size;
        } else {
            throw std::runtime_error("a wire type that no message of today has");
        }
        fields.push_back(field);
    }
    return fields;
}

inline std::vector<WireField> all_of(const std::vector<WireField>& fields, std::uint64_t number) {
    std::vector<WireField> found;
    for (const WireField& field : fields) {
        if (field.number == number) {
            found.push_back(field);
        }
    }
    return found;
}
/// The only one, or one of zeros.
inline WireField one_of(const std::vector<WireField>& fields, std::uint64_t number) {
    const std::vector<WireField> found = all_of(fields, number);
    if (found.size() > 1) {
        throw std::runtime_error("a field twice");
    }
    return found.empty() ? WireField() : found.front();
}

}  // namespace auspex::testing_wire
