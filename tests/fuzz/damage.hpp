#pragma once
/// @file Ways to damage a file, and the program around a loop that does.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>

#include "base/rng.hpp"

namespace auspex {

template <typename List>
const auto& any_of(const List& list, Rng& rng) {
    return list[rng.below(std::size(list))];
}

inline void replace_a_number(std::string& text, Rng& rng) {
    constexpr std::array<const char*, 18> kNumbers{"0",
                                                   "-1",
                                                   "1",
                                                   "7",
                                                   "1e308",
                                                   "1e-308",
                                                   "-0.0",
                                                   "2147483647",
                                                   "2147483648",
                                                   "1e19",
                                                   "9223372036854775808",
                                                   "0.5",
                                                   "65",
                                                   "240",
                                                   "1000000007",
                                                   "999999999",
                                                   "16777216",
                                                   "NaN"};
    const std::size_t from = text.find_first_of("0123456789", rng.below(text.size()));
    if (from != std::string::npos) {
        const std::size_t to = std::min(text.find_first_not_of("0123456789.", from), text.size());
        text.replace(from, to - from, any_of(kNumbers, rng));
    }
}

/// Swaps what follows two colons up to the next comma or line end: right syntax, wrong types.
inline void swap_two_values(std::string& text, Rng& rng) {
    const auto value_at = [&](std::size_t start) {
        const std::size_t colon = text.find(':', start);
        const std::size_t end = colon == std::string::npos ? colon : text.find_first_of(",}\n", colon);
        return end == std::string::npos ? std::pair<std::size_t, std::size_t>{0, 0}
                                        : std::pair{colon + 1, end - colon - 1};
    };
    const auto first = value_at(rng.below(text.size()));
    const auto second = value_at(rng.below(text.size()));
    if (first.first + first.second <= second.first) {
        const std::string moved = text.substr(first.first, first.second);
        const std::string other = text.substr(second.first, second.second);
        text.replace(second.first, second.second, moved);
        text.replace(first.first, first.second, other);
    }
}

inline void insert_a_token(std::string& text, Rng& rng) {
    constexpr std::array<const char*, 16> kTokens{
        "{",        "}",    "[",       "]",       ",",        ":",       "\"",     "null",
        "\"x\":1,", "true", "\\u0000", "\"dp\":", "[[[[[[[[", "{\"a\":", "// x\n", "\xff\xfe"};
    text.insert(rng.below(text.size() + 1), any_of(kTokens, rng));
}

/// Once, anywhere; `other` is a text to take words from.
inline void damage(std::string& text, const std::string& other, Rng& rng) {
    if (text.empty()) {
        return;
    }
    const std::size_t at = rng.below(text.size());
    switch (rng.below(8)) {
        case 0: text[at] = static_cast<char>(rng.below(256)); break;
        case 1: text[at] = static_cast<char>(text[at] ^ (1 << rng.below(8))); break;
        case 2: text.resize(at); break;
        case 3: text.erase(at, 1 + rng.below(40)); break;
        case 4: replace_a_number(text, rng); break;
        case 5: swap_two_values(text, rng); break;
        case 6: insert_a_token(text, rng); break;
        default: text.insert(at, other, rng.below(other.size()), rng.below(120));
    }
}

/// The program NAME [INPUTS [SEED]] around `fuzz`, which returns its exit code.
inline int fuzz_main(int argc, char** argv, const char* name, int (*fuzz)(std::uint64_t count, std::uint64_t seed)) {
    const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    try {
        return fuzz(count, seed);
    } catch (const std::exception& error) {
        std::cerr << name << ": " << error.what() << "\n";
        return 2;
    }
}

}  // namespace auspex
