#pragma once
/// @file Words of precision, as papers, tables and configurations have them.
#include <string>
#include <string_view>
#include <vector>

namespace auspex::evaluate {

struct StatedPrecision {
    std::string refused;       ///< not empty: why the words have no meaning here, and the rest is nothing
    std::string weights, fp8;  ///< plan.precision, plan.fp8
    std::vector<std::string> notes;
};

/// "bf16-mixed", "FP8 hybrid", "mxfp8", "NVFP4", "BF16/FP8", … `fp8_alone` is what 8 bits are of which no more is said,
/// in the plan's words. docs/validation.md has all of them.
[[nodiscard]] StatedPrecision precision_in(std::string_view text, const std::string& fp8_alone);

}  // namespace auspex::evaluate
