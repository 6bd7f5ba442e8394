#pragma once
/// @file A shuffle of any length of which each element is found by itself, without the others.
#include <array>
#include <cstdint>

namespace auspex::exec {

/// A permutation of 0 … count - 1, one for each (seed, stream, turn). Numbers of b = bits(count - 1) bits go through a
/// Feistel network: in each round one half is xor-ed with a keyed hash of the other, which can be undone, so that the
/// network permutes 0 … 2^b - 1. Results of count or more go through it again ("cycle walking", Black and Rogaway,
/// "Ciphers with Arbitrary Finite Domains", CT-RSA 2002, section 3): as 2^b < 2 count, less than twice in the mean. An
/// element depends on nothing but its arguments: ranks that share the work agree on every one of them.
class KeyedShuffle {
 public:
    /// Requires count > 0.
    KeyedShuffle(std::int64_t count, std::uint64_t seed, std::uint64_t stream, std::uint64_t turn);

    /// Requires 0 <= index < count.
    [[nodiscard]] std::int64_t at(std::int64_t index) const;

 private:
    static constexpr int kRounds = 8;

    std::uint64_t count_;
    int low_bits_ = 0;
    std::uint64_t low_mask_ = 0, high_mask_ = 0;
    std::array<std::uint64_t, kRounds> keys_{};
};

}  // namespace auspex::exec
