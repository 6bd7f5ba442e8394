#pragma once
/// @file The mechanisms between kernels timed by themselves and the same kernels in a step of several ranks, each of
/// which a machine can be predicted without.
#include <span>

#include "models/cpu/cpu_model.hpp"

namespace auspex::models {

/// A mechanism of CpuModel whose constants calibration measures by a probe of its own.
struct CpuMechanism {
    const char* name;           ///< "operands from memory"
    const char* probe;          ///< what its constants are measured by
    void (*remove)(CpuModel&);  ///< the machine as if there were no such mechanism; everything else stays
};

/// Each alone. Without any of them a step is its kernels' time on a core alone with operands in the last-level cache,
/// and between nodes what the wire takes.
[[nodiscard]] std::span<const CpuMechanism> cpu_mechanisms();

}  // namespace auspex::models
