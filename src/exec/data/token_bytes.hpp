#pragma once
/// @file Tokens as they lie in files: 16 or 32 bits, little-endian.
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace auspex::exec {

static_assert(std::endian::native == std::endian::little, "files of tokens are mapped as they are");

/// Token number `index` of `bytes`. Tokens of 32 bits may come out negative from damaged files.
[[nodiscard]] inline std::int32_t token_at(std::string_view bytes, std::int64_t index, int token_bytes) {
    const char* const from = bytes.data() + index * token_bytes;
    if (token_bytes == 2) {
        std::uint16_t token = 0;
        std::memcpy(&token, from, sizeof token);
        return token;
    }
    std::int32_t token = 0;
    std::memcpy(&token, from, sizeof token);
    return token;
}

inline void append_token(std::int32_t token, int token_bytes, std::string& bytes) {
    bytes.append(reinterpret_cast<const char*>(&token), static_cast<std::size_t>(token_bytes));
}

}  // namespace auspex::exec
