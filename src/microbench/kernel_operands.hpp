#pragma once
/// @file Arrays that a kernel of the trainer works on, and the call itself, made from nothing but the call's sizes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "exec/kernels/elementwise.hpp"
#include "exec/kernels/scalar.hpp"
#include "models/cpu/cpu_kernel.hpp"

namespace auspex::microbench {

/// Arrays of one set of operands, on boundaries of 64 bytes as the arena's are, and freed at once.
class OperandArrays {
 public:
    /// Sets of different seeds hold different numbers.
    explicit OperandArrays(std::uint64_t seed) : rng_(seed) {}

    /// mean + scale * a normal number; no two arrays of a set begin with the same ones. None is denormal, not a number
    /// or infinite for means and scales near 1.
    template <typename T>
    [[nodiscard]] T* numbers(std::size_t count, float scale = 1, float mean = 0) {
        const std::span<const float> normal = normal_numbers();
        T* const values = allocate<T>(count);
        std::size_t next = rng_.below(normal.size());
        for (std::size_t made = 0; made < count; next = 0) {
            const std::size_t run = std::min(count - made, normal.size() - next);
            for (std::size_t i = 0; i < run; ++i) {
                values[made + i] = exec::stored<T>(mean + scale * normal[next + i]);
            }
            made += run;
        }
        return values;
    }
    template <typename T>
    [[nodiscard]] T* filled(std::size_t count, T value) {
        T* const values = allocate<T>(count);
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = value;
        }
        return values;
    }
    /// Tokens of a vocabulary, a token's frequency proportional to 1 / (number + 1), about as in text.
    [[nodiscard]] std::int32_t* tokens(std::size_t count, std::size_t vocabulary);
    [[nodiscard]] Rng& rng() { return rng_; }
    /// Of all arrays.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    /// No real number of any array is infinite or not a number.
    [[nodiscard]] bool are_finite() const;
    /// The arrays in the order in which they were made.
    template <typename T>
    [[nodiscard]] std::span<const T> array(std::size_t index) const {
        const Block& block = blocks_.at(index);
        return {static_cast<const T*>(block.data.get()), block.count};
    }

 private:
    struct Release {
        void operator()(void* block) const;
    };
    struct Block {
        std::unique_ptr<void, Release> data;
        std::size_t count = 0;
        bool (*is_finite)(std::size_t count, const void* values) = nullptr;  ///< null: whole numbers or bytes
    };
    [[nodiscard]] static void* allocate_bytes(std::size_t bytes);
    template <typename T>
    [[nodiscard]] T* allocate(std::size_t count) {
        Block block{std::unique_ptr<void, Release>(allocate_bytes(count * sizeof(T))), count, nullptr};
        if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, exec::Bf16>) {
            block.is_finite = [](std::size_t n, const void* values) {
                return exec::all_finite(n, static_cast<const T*>(values));
            };
        }
        bytes_ += count * sizeof(T);
        blocks_.push_back(std::move(block));
        return static_cast<T*>(blocks_.back().data.get());
    }
    /// A prime number of standard normal numbers, the same in every run.
    [[nodiscard]] static std::span<const float> normal_numbers();

    Rng rng_;
    std::size_t bytes_ = 0;
    std::vector<Block> blocks_;
};

/// A CpuCall's sizes as whole numbers.
struct CallSizes {
    models::CpuKernel kernel = models::CpuKernel::kCopy;
    std::size_t rows = 1, columns = 1, depth = 1, groups = 1;
};

/// Arrays, and the call on them.
struct OperandSet {
    OperandArrays arrays;
    std::function<void()> run;
};
/// Aborts where the sizes are not whole positive numbers, or not those of a call that the trainer could make.
[[nodiscard]] OperandSet make_operands(const models::CpuCall& call, models::CpuPrecision precision, std::uint64_t seed);

// The parts of the kernels, one file each; empty where the kernel is another part's. P: Fp32 or Bf16Precision.
/// kernel_operands_layers.cpp: products, norms, attention, activations, embedding, cross entropy.
template <class P>
[[nodiscard]] std::function<void()> layer_call(const CallSizes& s, OperandArrays& arrays);
/// kernel_operands_experts.cpp: the router, orders of rows, experts.
template <class P>
[[nodiscard]] std::function<void()> expert_call(const CallSizes& s, OperandArrays& arrays);
/// kernel_operands_step.cpp: copies, checks, the optimizer, sums of collectives.
template <class P>
[[nodiscard]] std::function<void()> step_call(const CallSizes& s, OperandArrays& arrays);

}  // namespace auspex::microbench
