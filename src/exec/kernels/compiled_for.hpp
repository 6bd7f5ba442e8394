#pragma once
/// @file What the kernels are compiled for. Data only: the file is compiled as the kernels are, so a processor that
/// lacks their instructions could not run a function of it.

namespace auspex::exec {

/// Instruction sets beyond the baseline of x86-64, in the compiler's words, a space before each. Empty where the
/// kernels are compiled for any processor, or for another architecture.
extern const char* const kKernelInstructionSets;

/// Compiled for the processor of the build, which on another architecture no name above tells.
extern const bool kKernelsAreNative;

/// Of the oneDNN that the kernels are compiled with: "2.6.3"; empty where they are compiled without it.
extern const char* const kOneDnnVersion;

}  // namespace auspex::exec
