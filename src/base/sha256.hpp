#pragma once
/// @file SHA-256 (FIPS 180-4), for naming inputs by their content.
#include <string>
#include <string_view>

namespace auspex {

/// The digest as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace auspex
