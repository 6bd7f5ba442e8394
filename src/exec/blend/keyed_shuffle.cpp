/// @file Feistel rounds with the finaliser of splitmix64.
#include "exec/blend/keyed_shuffle.hpp"

#include <bit>

#include "base/error.hpp"

namespace auspex::exec {
namespace {

/// Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, with Stafford's constants.
std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

}  // namespace

KeyedShuffle::KeyedShuffle(std::int64_t count, std::uint64_t seed, std::uint64_t stream, std::uint64_t turn)
    : count_(static_cast<std::uint64_t>(count)) {
    AUSPEX_CHECK(count > 0, "there is something to shuffle");
    const int bits = static_cast<int>(std::bit_width(count_ - 1));
    low_bits_ = bits / 2;
    low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
    high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
    std::uint64_t key = mixed(mixed(mixed(seed + kGolden) + stream + kGolden) + turn + kGolden);
    for (std::uint64_t& round_key : keys_) {
        key += kGolden;
        round_key = mixed(key);
    }
}

std::int64_t KeyedShuffle::at(std::int64_t index) const {
    std::uint64_t high = static_cast<std::uint64_t>(index) >> low_bits_;
    std::uint64_t low = static_cast<std::uint64_t>(index) & low_mask_;
    do {
        for (int round = 0; round < kRounds; round += 2) {
            const auto i = static_cast<std::size_t>(round);
            high ^= mixed(low + keys_[i]) & high_mask_;
            low ^= mixed(high + keys_[i + 1]) & low_mask_;
        }
    } while (((high << low_bits_) | low) >= count_);
    return static_cast<std::int64_t>((high << low_bits_) | low);
}

}  // namespace auspex::exec
