/// @file Sums, maxima and joined log-sum-exps over the parts of a group.
#include "exec/transport/reduction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"
#include "exec/kernels/scalar.hpp"

namespace auspex::exec {
namespace {

/// Numbers that are joined at a time: they stay in the nearest cache.
constexpr std::size_t kBlock = 512;

template <typename T>
struct Joined {
    using Type = double;
};
template <>
struct Joined<std::int64_t> {
    using Type = std::int64_t;
};

template <typename T>
double widened(T value) {
    return static_cast<double>(real(value));
}
std::int64_t widened(std::int64_t value) { return value; }

template <typename T, typename Wide>
T narrowed(Wide value) {
    if constexpr (std::is_same_v<T, Wide>) {
        return value;
    } else {
        return stored<T>(value);
    }
}

template <typename T, typename Join>
void join_elements(std::span<const void* const> parts, void* result, std::size_t count, Join join) {
    std::array<typename Joined<T>::Type, kBlock> joined;
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
        const std::size_t n = std::min(kBlock, count - begin);
        const T* const first = static_cast<const T*>(parts.front()) + begin;
        for (std::size_t i = 0; i < n; ++i) {
            joined[i] = widened(first[i]);
        }
        for (const void* const part : parts.subspan(1)) {
            const T* const next = static_cast<const T*>(part) + begin;
            for (std::size_t i = 0; i < n; ++i) {
                joined[i] = join(joined[i], widened(next[i]));
            }
        }
        T* const out = static_cast<T*>(result) + begin;
        for (std::size_t i = 0; i < n; ++i) {
            out[i] = narrowed<T>(joined[i]);
        }
    }
}

/// NaN stays: no number is larger than it.
template <typename Wide>
Wide larger(Wide a, Wide b) {
    return b > a || b != b ? b : a;
}

template <typename T>
void join_softmax_parts(std::span<const void* const> parts, void* result, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 3) {
        const auto number = [&](const void* part, std::size_t k) {
            return widened(static_cast<const T*>(part)[i + k]);
        };
        double maximum = number(parts.front(), 0);
        for (const void* const part : parts.subspan(1)) {
            maximum = larger(maximum, number(part, 0));
        }
        double sum = 0, target = 0;
        for (const void* const part : parts) {
            const double s = number(part, 1);
            sum += s == 0 ? 0 : s * std::exp(number(part, 0) - maximum);
            target += number(part, 2);
        }
        T* const out = static_cast<T*>(result) + i;
        out[0] = narrowed<T>(maximum), out[1] = narrowed<T>(sum), out[2] = narrowed<T>(target);
    }
}

template <typename T>
void reduce_typed(std::span<const void* const> parts, void* result, std::size_t count, ReduceOp op) {
    switch (op) {
        case ReduceOp::kSum: join_elements<T>(parts, result, count, [](auto a, auto b) { return a + b; }); return;
        case ReduceOp::kMax:
            join_elements<T>(parts, result, count, [](auto a, auto b) { return larger(a, b); });
            return;
        case ReduceOp::kLogSumExp:
            if constexpr (std::is_same_v<T, std::int64_t>) {
                check_failed("type", "log-sum-exps are of reals", __FILE__, __LINE__);
            } else {
                join_softmax_parts<T>(parts, result, count);
            }
            return;
    }
}

}  // namespace

std::size_t element_bytes(ElementType type) {
    switch (type) {
        case ElementType::kBf16: return sizeof(Bf16);
        case ElementType::kFloat: return sizeof(float);
        case ElementType::kDouble: return sizeof(double);
        case ElementType::kInt64: return sizeof(std::int64_t);
    }
    check_failed("type", "an element type", __FILE__, __LINE__);
}

std::size_t elements_per_item(ReduceOp op) { return op == ReduceOp::kLogSumExp ? 3 : 1; }

void reduce_parts(std::span<const void* const> parts, void* result, std::size_t count, ElementType type, ReduceOp op) {
    AUSPEX_CHECK(!parts.empty() && count % elements_per_item(op) == 0, "whole elements of some part");
    record_call(op == ReduceOp::kLogSumExp ? "reduce_softmax_parts" : "reduce_parts", 1, count, parts.size(),
                element_bytes(type));
    switch (type) {
        case ElementType::kBf16: return reduce_typed<Bf16>(parts, result, count, op);
        case ElementType::kFloat: return reduce_typed<float>(parts, result, count, op);
        case ElementType::kDouble: return reduce_typed<double>(parts, result, count, op);
        case ElementType::kInt64: return reduce_typed<std::int64_t>(parts, result, count, op);
    }
}

}  // namespace auspex::exec
