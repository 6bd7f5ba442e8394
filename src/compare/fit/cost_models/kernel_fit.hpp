#pragma once
/// @file The laws of kernels from their timings.
#include <optional>
#include <vector>

#include "compare/fit/cost_models/calibration_result.hpp"
#include "compare/fit/cost_models/fitted.hpp"

namespace auspex::fit {

/// The call that a row of kind "kernel" timed.
[[nodiscard]] models::CpuCall call_of(const models::Measurement& row);
/// Requires a row of kind "kernel".
[[nodiscard]] models::CpuPrecision precision_of(const models::Measurement& row);

/// cpu_seconds of a call in the last-level cache, or nothing where the host has no law of it.
[[nodiscard]] std::optional<double> modelled_seconds(const models::CpuModel& cpu, const models::CpuCall& call,
                                                     models::CpuPrecision precision);

/// Fits seconds = sum of coefficient x cpu_sizes for every kernel and precision to the rows of kind "kernel" from the
/// cache with one rank active, as far as the last-level cache holds their operands; relative errors, noisy rows count
/// less. A kernel with no more rows than terms has no law, and a warning. Requires cache_bytes.
void fit_kernel_costs(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration);

}  // namespace auspex::fit
