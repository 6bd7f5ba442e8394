#pragma once
/// @file Can this processor run the kernels? Those of a build with AUSPEX_NATIVE run where they were built, or on a
/// processor that has all of its instructions.
#include <string>

namespace auspex::exec {

/// The words of kKernelInstructionSets (kernels/compiled_for.hpp) that this processor lacks: "avx512f, avx512bw"; empty
/// where the kernels run.
[[nodiscard]] std::string missing_instruction_sets();

}  // namespace auspex::exec
