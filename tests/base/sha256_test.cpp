/// @file Known digests of FIPS 180-4's examples.
#include "base/sha256.hpp"

#include <gtest/gtest.h>

namespace auspex {
namespace {

TEST(Sha256, the_published_examples_have_their_digests) {
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, pieces_of_any_length_have_the_digest_of_the_whole) {
    std::string text;
    Sha256 pieces;
    for (std::size_t length = 0; length < 200; ++length) {
        const std::string piece(length, static_cast<char>('a' + length % 26));
        pieces.add(piece);
        text += piece;
        EXPECT_EQ(pieces.hex(), sha256_hex(text));
    }
    EXPECT_EQ(pieces.hex().size(), 64U);
    EXPECT_EQ(Sha256().hex(), sha256_hex(""));
}

}  // namespace
}  // namespace auspex
