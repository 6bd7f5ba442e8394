#pragma once
/// @file The "host" section of a machine file.
#include <vector>

#include "base/constant.hpp"
#include "base/json_forward.hpp"
#include "models/cpu/cpu_model.hpp"

namespace auspex::models {

/// Reads the section; docs/formats-machine-stack.md describes it. Its constants join `constants` in the order of the
/// table there, cost models by precision, kernel (in the order of CpuKernel) and term. `max_nodes` is the fabric's:
/// with several nodes messages between them are required, with one they are refused. Throws InputError (file, path,
/// found, allowed).
[[nodiscard]] CpuModel read_cpu_section(const JsonValue& section, int max_nodes, std::vector<Constant>& constants);

}  // namespace auspex::models
