/// @file Arrays of random numbers, and which part makes a kernel's call.
#include "microbench/kernel_operands.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "base/error.hpp"

namespace auspex::microbench {
namespace {

constexpr std::align_val_t kAlignment{64};

std::size_t whole(double size) {
    AUSPEX_CHECK(size >= 1 && size == std::floor(size) && size < 1e12, "a size of a call that is timed is whole");
    return static_cast<std::size_t>(size);
}

template <class P>
std::function<void()> call_of(const CallSizes& s, OperandArrays& arrays) {
    std::function<void()> call = layer_call<P>(s, arrays);
    if (!call) {
        call = expert_call<P>(s, arrays);
    }
    if (!call) {
        call = step_call<P>(s, arrays);
    }
    AUSPEX_CHECK(call, "a kernel that can be called");
    return call;
}

}  // namespace

void OperandArrays::Release::operator()(void* block) const { ::operator delete(block, kAlignment); }

void* OperandArrays::allocate_bytes(std::size_t bytes) { return ::operator new(bytes, kAlignment); }

bool OperandArrays::are_finite() const {
    return std::ranges::all_of(blocks_, [](const Block& block) {
        return block.is_finite == nullptr || block.is_finite(block.count, block.data.get());
    });
}

std::span<const float> OperandArrays::normal_numbers() {
    static const std::vector<float> numbers = [] {
        constexpr std::size_t kPrime = 65537;
        Rng rng(1);
        std::vector<float> made(kPrime);
        std::ranges::generate(made, [&rng] { return static_cast<float>(rng.normal()); });
        return made;
    }();
    return numbers;
}

std::int32_t* OperandArrays::tokens(std::size_t count, std::size_t vocabulary) {
    auto* const values = allocate<std::int32_t>(count);
    const double logarithm = std::log(static_cast<double>(vocabulary));
    std::generate_n(values, count, [&] { return static_cast<std::int32_t>(std::exp(rng_.uniform() * logarithm)) - 1; });
    return values;
}

OperandSet make_operands(const models::CpuCall& call, models::CpuPrecision precision, std::uint64_t seed) {
    const CallSizes s{call.kernel, whole(call.rows), whole(call.columns), whole(call.depth), whole(call.groups)};
    OperandSet set{OperandArrays(seed), {}};
    set.run = precision == models::CpuPrecision::kFp32 ? call_of<exec::Fp32>(s, set.arrays)
                                                       : call_of<exec::Bf16Precision>(s, set.arrays);
    return set;
}

}  // namespace auspex::microbench
