#pragma once
/// @file Models in words.
#include <string>

#include "base/number_text.hpp"

namespace auspex::cli {

/// Parameters are counted in billions, as people name models by them: "220 B", not "220 G".
[[nodiscard]] inline std::string parameters_text(double count) {
    std::string text = short_count(count);
    if (text.ends_with(" G")) {
        text.back() = 'B';
    }
    return text;
}

}  // namespace auspex::cli
