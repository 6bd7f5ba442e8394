/// @file Bytes of protobuf messages: as the encoding says, and nothing else gets in.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/protobuf/protobuf_reader.hpp"
#include "base/rng.hpp"
#include "wire_fields.hpp"

namespace auspex {
namespace {

std::string bytes_of(const ProtobufWriter& writer) { return std::string(writer.view()); }

/// Examples of protobuf.dev, "Encoding": 150 in field 1 is 08 96 01, "testing" in field 2 is 12 07 …
TEST(Protobuf, writes_the_examples_of_its_description) {
    EXPECT_EQ(bytes_of(ProtobufWriter().varint(1, 150)), std::string("\x08\x96\x01"));
    EXPECT_EQ(bytes_of(ProtobufWriter().bytes(2, "testing")), std::string("\x12\x07testing"));
    EXPECT_EQ(bytes_of(ProtobufWriter().message(3, ProtobufWriter().varint(1, 150))),
              std::string("\x1a\x03\x08\x96\x01"));
    // -2 as int32 or int64: ten bytes, of the two's complement of 64 bits.
    EXPECT_EQ(bytes_of(ProtobufWriter().signed_varint(1, -2)),
              std::string("\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
    // 1.0 is 3f f0 00 … in IEEE 754, its lowest byte first.
    EXPECT_EQ(bytes_of(ProtobufWriter().number(1, 1.0)), std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
}

TEST(Protobuf, reads_back_what_it_wrote) {
    Rng rng(7);
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t value = rng.next() >> rng.below(64);
        const auto number = static_cast<std::uint32_t>(1 + rng.below((1U << 29U) - 1));
        const std::string text(rng.below(300), static_cast<char>(rng.below(256)));
        ProtobufWriter writer;
        writer.varint(number, value).fixed64(number, value).bytes(number, text);
        ProtobufReader reader(writer.view(), "message");
        ProtobufField field;
        ASSERT_TRUE(reader.next(field));
        EXPECT_EQ(field.number, number);
        EXPECT_EQ(field.value, value);
        ASSERT_TRUE(reader.next(field));
        EXPECT_EQ(field.value, value);
        ASSERT_TRUE(reader.next(field));
        EXPECT_EQ(field.bytes, text);
        EXPECT_FALSE(reader.next(field));
        const auto fields = testing_wire::fields_of(bytes_of(writer));
        ASSERT_EQ(fields.size(), 3U);
        EXPECT_EQ(fields[0].value, value);
        EXPECT_EQ(fields[2].bytes, text);
    }
}

std::string refusal_of(const std::string& message) {
    ProtobufReader reader(message, "file");
    ProtobufField field;
    try {
        while (reader.next(field)) {
        }
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Protobuf, refuses_what_is_cut_off_or_no_message) {
    EXPECT_NE(refusal_of(std::string("\x12\x07test")).find("field 2 of 7 bytes where only 4 are left"),
              std::string::npos);
    EXPECT_NE(refusal_of(std::string("\x08\x96")).find("cut off or longer than 64 bits"), std::string::npos);
    // Eleven bytes, and ten of which the last has more than the 64th bit.
    EXPECT_NE(refusal_of("\x08" + std::string(10, '\xff') + "\x01").find("longer than 64 bits"), std::string::npos);
    EXPECT_NE(refusal_of("\x08" + std::string(9, '\xff') + "\x02").find("longer than 64 bits"), std::string::npos);
    EXPECT_NE(refusal_of(std::string("\x09\x01\x02")).find("field 1 cut off: 2 of 8 bytes"), std::string::npos);
    EXPECT_NE(refusal_of(std::string("\x0b")).find("wire type 3"), std::string::npos);
    EXPECT_NE(refusal_of(std::string("\x00\x01", 2)).find("no key of a field"), std::string::npos);
    // A length of 2^64 - 1.
    EXPECT_NE(refusal_of("\x12" + std::string(9, '\xff') + "\x01").find("18446744073709551615"), std::string::npos);
}

TEST(Protobuf, every_prefix_of_a_message_is_refused_or_a_message) {
    ProtobufWriter writer;
    writer.varint(1, 300).bytes(2, "abc").fixed64(3, 7).message(4, ProtobufWriter().varint(1, 1));
    for (std::size_t length = 0; length < writer.view().size(); ++length) {
        ProtobufReader reader(writer.view().substr(0, length), "file");
        ProtobufField field;
        try {
            while (reader.next(field)) {
                EXPECT_LE(field.bytes.size(), length);
            }
        } catch (const InputError&) {
        }
    }
}

}  // namespace
}  // namespace auspex
