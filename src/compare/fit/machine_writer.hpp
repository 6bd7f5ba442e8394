#pragma once
/// @file A calibrated machine as the text of a machine file.
#include <string>

#include "compare/fit/cost_models/fitted.hpp"

namespace auspex::fit {

/// First key of the files that calibration has written, and what stands there: only such files are written over.
inline constexpr const char* kWrittenByKey = "$written_by";
inline constexpr const char* kWrittenBy = "auspex calibrate";

/// The whole file (docs/formats-machine-stack.md). The other lenses see a rank as a tile with a core of its own:
/// products at the rate of the gemm_forward law, memory at its share of the computer's; what processes on cores do not
/// have (noise, storage, reliability) is assumed, and says so.
[[nodiscard]] std::string machine_text(const FittedCpu& cpu);

}  // namespace auspex::fit
