/// @file SHA-256 as FIPS 180-4 has it, for where there is no OpenSSL.
#include <array>
#include <cstdint>
#include <vector>

#include "base/sha256.hpp"

namespace auspex {
namespace {

constexpr std::size_t kBlock = 64;  // bytes

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t turned(std::uint32_t word, unsigned bits) { return word >> bits | word << (32 - bits); }

void add_block(std::array<std::uint32_t, 8>& state, const unsigned char* block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i) {
        w[i] = std::uint32_t{block[4 * i]} << 24U | std::uint32_t{block[4 * i + 1]} << 16U |
               std::uint32_t{block[4 * i + 2]} << 8U | block[4 * i + 3];
    }
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t s0 = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3U;
        const std::uint32_t s1 = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10U;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
        const std::uint32_t first = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
        const std::uint32_t s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
        const std::uint32_t second = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) {
        state[i] += added[i];
    }
}

}  // namespace

struct Sha256::Context {
    // The first 32 bits of the fractions of the square roots of the first 8 primes.
    std::array<std::uint32_t, 8> state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::vector<unsigned char> rest;  ///< less than a block
    std::uint64_t bytes = 0;
};

void Sha256::Free::operator()(Context* context) const { delete context; }

Sha256::Sha256() : context_(new Context) {}

void Sha256::add(std::string_view bytes) {
    Context& c = *context_;
    c.bytes += bytes.size();
    c.rest.insert(c.rest.end(), bytes.begin(), bytes.end());
    std::size_t done = 0;
    for (; c.rest.size() - done >= kBlock; done += kBlock) {
        add_block(c.state, c.rest.data() + done);
    }
    c.rest.erase(c.rest.begin(), c.rest.begin() + static_cast<std::ptrdiff_t>(done));
}

std::string Sha256::hex() const {
    Context c = *context_;
    c.rest.push_back(0x80);
    while (c.rest.size() % kBlock != kBlock - 8) {
        c.rest.push_back(0);
    }
    for (unsigned shift = 64; shift > 0; shift -= 8) {
        c.rest.push_back(static_cast<unsigned char>(8 * c.bytes >> (shift - 8)));
    }
    for (std::size_t done = 0; done < c.rest.size(); done += kBlock) {
        add_block(c.state, c.rest.data() + done);
    }
    std::string text;
    for (const std::uint32_t word : c.state) {
        for (unsigned shift = 32; shift > 0; shift -= 4) {
            text += "0123456789abcdef"[word >> (shift - 4) & 0xfU];
        }
    }
    return text;
}

}  // namespace auspex
