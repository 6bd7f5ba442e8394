/// @file Read off macros: of the compiler, and of oneDNN's header.
#include "exec/kernels/compiled_for.hpp"

#ifndef AUSPEX_WITHOUT_ONEDNN
#include <dnnl.h>
#endif

namespace auspex {

const char* const kKernelInstructionSets =
    ""
#ifdef __POPCNT__
    " popcnt"
#endif
#ifdef __SSE4_2__
    " sse4.2"
#endif
#ifdef __AVX__
    " avx"
#endif
#ifdef __AVX2__
    " avx2"
#endif
#ifdef __FMA__
    " fma"
#endif
#ifdef __BMI2__
    " bmi2"
#endif
#ifdef __AVX512F__
    " avx512f"
#endif
#ifdef __AVX512BW__
    " avx512bw"
#endif
#ifdef __AVX512DQ__
    " avx512dq"
#endif
#ifdef __AVX512VL__
    " avx512vl"
#endif
    ;

#ifdef AUSPEX_WITHOUT_ONEDNN
const char* const kOneDnnVersion = "";
#else
#define AUSPEX_TEXT_OF(value) #value
#define AUSPEX_DOTTED(major, minor, patch) AUSPEX_TEXT_OF(major) "." AUSPEX_TEXT_OF(minor) "." AUSPEX_TEXT_OF(patch)
const char* const kOneDnnVersion = AUSPEX_DOTTED(DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH);
#endif

}  // namespace auspex
