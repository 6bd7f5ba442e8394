/// @file Operands of copies, checks, the optimizer and the sums of collectives.
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <type_traits>

#include "exec/kernels/elementwise.hpp"
#include "exec/operations/operations.hpp"
#include "exec/state/optimizer.hpp"
#include "exec/transport/reduction.hpp"
#include "microbench/kernel_operands.hpp"
#include "models/training.hpp"

namespace auspex::microbench {
namespace {

using Call = std::function<void()>;

/// Keeps a result from being optimized away.
template <typename T>
void use(const T& result) {
    asm volatile("" : : "r,m"(result) : "memory");
}

template <typename T>
Call finite_check_call(const CallSizes& s, OperandArrays& arrays) {
    const T* const values = arrays.numbers<T>(s.columns);
    return [=] { use(exec::all_finite(s.columns, values)); };
}

template <typename G>
Call square_sum_call(const CallSizes& s, OperandArrays& arrays) {
    const G* const gradients = arrays.numbers<G>(s.columns);
    return [=] { use(exec::square_sum(s.columns, gradients)); };
}

/// Arrays of one length, cut into `rows` parts of nearly equal size.
template <class P>
Call adam_call(const CallSizes& s, OperandArrays& arrays) {
    using G = typename P::Gradient;
    using V = typename P::Value;
    const std::size_t n = s.columns;
    const bool has_master = !std::is_same_v<V, typename P::Real>;
    const std::span<const G> gradients{arrays.numbers<G>(n, 1e-2F), n};
    const std::span<float> m{arrays.numbers<float>(n, 1e-2F), n}, v{arrays.filled(n, 1e-4F), n};
    const std::span<float> master{has_master ? arrays.numbers<float>(n) : nullptr, has_master ? n : 0};
    const std::span<V> weights{arrays.numbers<V>(n), n};
    const models::Training usual;
    const exec::AdamW adam{.rate = 1e-4,
                           .beta1 = usual.beta1,
                           .beta2 = usual.beta2,
                           .epsilon = usual.epsilon,
                           .decay = usual.weight_decay,
                           .t = 100};
    return [=] {
        for (std::size_t i = 0; i < s.rows; ++i) {
            const std::size_t begin = n * i / s.rows, size = n * (i + 1) / s.rows - begin;
            exec::update<P>(adam, gradients.subspan(begin, size), m.subspan(begin, size), v.subspan(begin, size),
                            has_master ? master.subspan(begin, size) : master, weights.subspan(begin, size));
        }
    };
}

/// The first part is this rank's own, and becomes the result, as in a collective. `mean` far from 0 keeps the sums of
/// exponentials positive.
template <typename T>
Call reduce_call(const CallSizes& s, exec::ReduceOp op, OperandArrays& arrays) {
    T* const own = arrays.numbers<T>(s.columns, 0.1F, 1);
    std::vector<const void*> parts{own};
    while (parts.size() < s.depth) {
        parts.push_back(arrays.numbers<T>(s.columns, 0.1F, 1));
    }
    return [=] { exec::reduce_parts(parts, own, s.columns, exec::element_type<T>(), op); };
}

template <typename T>
Call fill_call(const CallSizes& s, OperandArrays& arrays) {
    const std::size_t count = std::max<std::size_t>(1, s.columns / sizeof(T));
    const std::span<T> values{arrays.numbers<T>(count), count};
    return [=] {
        std::ranges::fill(values, T{});
        use(values.data());
    };
}

/// What the interpreter does around an operation (exec/run/interpreter.cpp), with `columns` tensors of 4 KiB that it
/// makes and releases.
Call operation_call(const CallSizes& s) {
    struct Walk {
        exec::Arena arena;
        std::vector<exec::Buffer<float>> tensors;
        std::map<std::pair<int, int>, int> passes{{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 3}};
        std::array<exec::OperationCount, static_cast<std::size_t>(schedule::OpKind::kCount)> counts{};
        schedule::Timeline timeline;
    };
    const auto walk = std::make_shared<Walk>();
    return [walk, blocks = s.columns] {
        constexpr std::size_t kTensor = 1024;
        const auto start = std::chrono::steady_clock::now();
        use(walk->passes.at({0, 1}));
        for (std::size_t i = 0; i < blocks; ++i) {
            walk->tensors.emplace_back(walk->arena, schedule::MemoryLabel::kWorkspace, kTensor);
        }
        use(walk->tensors.data());
        walk->tensors.clear();
        walk->counts.back() += exec::OperationCount{};
        const auto end = std::chrono::steady_clock::now();
        walk->timeline.spans.push_back({0, 0, start.time_since_epoch().count(), end.time_since_epoch().count(), 0, 0});
        if (walk->timeline.spans.size() > kTensor) {
            walk->timeline.spans.clear();
        }
    };
}

Call copy_call(const CallSizes& s, OperandArrays& arrays) {
    const auto* const from = arrays.filled(s.columns, std::byte{1});
    auto* const to = arrays.filled(s.columns, std::byte{0});
    return [=] {
        std::copy_n(from, s.columns, to);
        use(to);
    };
}

}  // namespace

template <class P>
Call step_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    using G = typename P::Gradient;
    switch (s.kernel) {
        case models::CpuKernel::kZero: return fill_call<G>(s, arrays);
        case models::CpuKernel::kCopy: return copy_call(s, arrays);
        case models::CpuKernel::kFiniteCheck: return finite_check_call<V>(s, arrays);
        case models::CpuKernel::kFiniteCheckGradients: return finite_check_call<G>(s, arrays);
        case models::CpuKernel::kSquareSum: return square_sum_call<G>(s, arrays);
        case models::CpuKernel::kAdamW: return adam_call<P>(s, arrays);
        case models::CpuKernel::kReduceParts: return reduce_call<V>(s, exec::ReduceOp::kSum, arrays);
        case models::CpuKernel::kReducePartsGradients: return reduce_call<G>(s, exec::ReduceOp::kSum, arrays);
        case models::CpuKernel::kOperation: return operation_call(s);
        case models::CpuKernel::kReduceSoftmaxParts:
            return reduce_call<typename P::Real>(s, exec::ReduceOp::kLogSumExp, arrays);
        default: return {};
    }
}

template Call step_call<exec::Fp32>(const CallSizes&, OperandArrays&);
template Call step_call<exec::Bf16Precision>(const CallSizes&, OperandArrays&);

}  // namespace auspex::microbench
