#pragma once
/// @file Texts as one text.
#include <string>
#include <string_view>
#include <vector>

namespace auspex {

/// "a, b, c" of a, b, c and ", "; empty of none.
[[nodiscard]] inline std::string joined(const std::vector<std::string>& texts, std::string_view between) {
    std::string all;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        all += (i > 0 ? std::string(between) : "") + texts[i];
    }
    return all;
}

}  // namespace auspex
