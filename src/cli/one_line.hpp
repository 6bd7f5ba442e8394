#pragma once
/// @file Messages that stay one line.
#include <algorithm>
#include <string>

namespace auspex {

/// Names of files and arguments may hold anything: control characters become "?".
[[nodiscard]] inline std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    return text;
}

}  // namespace auspex
