#pragma once
/// @file Number formats of a training run: what is stored, and what is computed with.
#include <bit>
#include <cstdint>

namespace auspex::exec {

/// bfloat16, the upper half of a float; stored, never computed with.
struct Bf16 {
    std::uint16_t bits = 0;
};

/// To the type that is computed with: exact.
[[nodiscard]] inline float real(Bf16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16U); }
[[nodiscard]] inline float real(float value) { return value; }
[[nodiscard]] inline double real(double value) { return value; }

/// What a stored type is computed with.
template <typename Stored>
using RealOf = decltype(real(Stored{}));

/// To the type that is stored; bfloat16 rounds to nearest, ties to even, and keeps NaN a NaN.
template <typename Stored>
[[nodiscard]] inline Stored stored(double value) {
    return static_cast<Stored>(value);
}
template <typename Stored>
[[nodiscard]] inline Stored stored(float value) {
    return static_cast<Stored>(value);
}
template <>
[[nodiscard]] inline Bf16 stored<Bf16>(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
    const std::uint32_t quiet_nan = (bits >> 16U) | 0x40U;
    return {static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet_nan : rounded)};
}
template <>
[[nodiscard]] inline Bf16 stored<Bf16>(double value) {
    return stored<Bf16>(static_cast<float>(value));
}

/// Value: weights and activations. Gradient: gradients of weights, as stored and reduced. Real: everything computed
/// with; router logits and probabilities, weights of choices, LM logits, sums of squares and log-sum-exps are stored
/// so.
struct Fp32 {
    using Value = float;
    using Gradient = float;
    using Real = float;
};
/// For gradient checks only: no plan asks for it.
struct Fp64 {
    using Value = double;
    using Gradient = double;
    using Real = double;
};
struct Bf16Precision {
    using Value = Bf16;
    using Gradient = Bf16;
    using Real = float;
};
/// bf16 weights and activations, gradients kept in fp32 (plan.gradient_dtype).
struct Bf16WithFp32Gradients {
    using Value = Bf16;
    using Gradient = float;
    using Real = float;
};

}  // namespace auspex::exec
