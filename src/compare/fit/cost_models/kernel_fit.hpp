#pragma once
/// @file The laws of kernels from their timings.
#include <optional>
#include <vector>

#include "compare/fit/cost_models/fitted.hpp"

namespace auspex {

/// The call that a row of kind "kernel" timed.
[[nodiscard]] CpuCall call_of(const Measurement& row);
/// Requires a row of kind "kernel".
[[nodiscard]] CpuPrecision precision_of(const Measurement& row);

/// cpu_seconds of a call in the last-level cache, or nothing where the host has no law of it.
[[nodiscard]] std::optional<double> modelled_seconds(const CpuModel& cpu, const CpuCall& call, CpuPrecision precision);

/// Fits seconds = sum of coefficient x cpu_sizes for every kernel and precision to the rows of kind "kernel" from the
/// cache with one rank active, as far as the last-level cache holds their operands; relative errors, noisy rows count
/// less. A kernel with no more rows than terms has no law, and a warning. Requires cache_bytes.
void fit_kernel_costs(const std::vector<Measurement>& rows, FittedCpu& cpu, Calibration& calibration);

}  // namespace auspex
