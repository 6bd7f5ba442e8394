#pragma once
/// @file Memory that kernels reuse from call to call, of each thread by itself.
#include <cstddef>
#include <cstdint>

namespace auspex::exec {

/// Who uses it: what is live at the same time has different names.
enum class Scratch : std::uint8_t { kLeft, kRight, kProduct, kAttention, kNormWeight, kNormGradient, kCount };

/// At least `bytes` bytes of the calling thread, 64-byte aligned, not initialised; valid until the next call with the
/// same name. Grows, never shrinks.
[[nodiscard]] void* scratch_bytes(Scratch use, std::size_t bytes);
template <typename T>
[[nodiscard]] T* scratch(Scratch use, std::size_t count) {
    return static_cast<T*>(scratch_bytes(use, count * sizeof(T)));
}
/// What the calling thread holds, in bytes.
[[nodiscard]] std::size_t scratch_held();

}  // namespace auspex::exec
