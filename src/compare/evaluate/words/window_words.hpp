#pragma once
/// @file Words of sliding windows of attention.
#include <optional>
#include <string_view>

namespace auspex::evaluate {

struct StatedWindow {
    int tokens = 0;
    int layers = 0;  ///< of the model's, that have it; 0: none
};

/// Of a model of so many layers: "4096" and "4096 on every layer" are all layers; "128 on alternate layers", "every
/// other", "every second" and "alternating" half of them; "1024, 5 of 6 layers" that share; "none" none. Nothing for
/// other words.
[[nodiscard]] std::optional<StatedWindow> window_in(std::string_view text, int layers);

}  // namespace auspex::evaluate
