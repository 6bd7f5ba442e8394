/// @file Read off macros: of the compiler, and of oneDNN's header.
#include "exec/kernels/compiled_for.hpp"

#ifndef AUSPEX_WITHOUT_ONEDNN
#include <dnnl.h>
#endif

namespace auspex::exec {

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
#ifdef __BMI__
    " bmi"
#endif
#ifdef __BMI2__
    " bmi2"
#endif
#ifdef __GFNI__
    " gfni"
#endif
#ifdef __VPCLMULQDQ__
    " vpclmulqdq"
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
#ifdef __AVX512VBMI__
    " avx512vbmi"
#endif
#ifdef __AVX512VBMI2__
    " avx512vbmi2"
#endif
#ifdef __AVX512VNNI__
    " avx512vnni"
#endif
#ifdef __AVX512BF16__
    " avx512bf16"
#endif
#ifdef __AVX512BITALG__
    " avx512bitalg"
#endif
#ifdef __AVX512VPOPCNTDQ__
    " avx512vpopcntdq"
#endif
#ifndef __clang__  // which cannot ask a processor for them
#ifdef __F16C__
    " f16c"
#endif
#ifdef __MOVBE__
    " movbe"
#endif
#ifdef __LZCNT__
    " lzcnt"
#endif
#ifdef __VAES__
    " vaes"
#endif
#ifdef __AVXVNNI__
    " avxvnni"
#endif
#endif
    ;

#ifdef AUSPEX_NATIVE_KERNELS
const bool kKernelsAreNative = true;
#else
const bool kKernelsAreNative = false;
#endif

#ifdef AUSPEX_WITHOUT_ONEDNN
const char* const kOneDnnVersion = "";
#else
#define AUSPEX_TEXT_OF(value) #value
#define AUSPEX_DOTTED(major, minor, patch) AUSPEX_TEXT_OF(major) "." AUSPEX_TEXT_OF(minor) "." AUSPEX_TEXT_OF(patch)
const char* const kOneDnnVersion = AUSPEX_DOTTED(DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH);
#endif

}  // namespace auspex::exec
