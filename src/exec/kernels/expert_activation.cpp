/// @file The activation of experts: as a pass over rows, or for the loop as a framework's kernels.
#include "exec/kernels/elementwise.hpp"
#include "exec/kernels/experts.hpp"
#include "exec/kernels/exponential.hpp"

namespace auspex::exec {
namespace {

/// SiLU and product as two kernels.
template <typename V>
void swiglu_by_kernels(std::size_t rows, std::size_t inner, const V* gate_up, V* product) {
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < inner; ++i) {
            const auto gate = real(gate_up[row * 2 * inner + i]);
            product[row * inner + i] = stored<V>(gate / (1 + exponential(-gate)));
        }
    }
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < inner; ++i) {
            const auto up = real(gate_up[row * 2 * inner + inner + i]);
            product[row * inner + i] = stored<V>(real(product[row * inner + i]) * up);
        }
    }
}

/// The product's two gradients, and SiLU's, as three kernels.
template <typename V>
void swiglu_by_kernels_backward(std::size_t rows, std::size_t inner, const V* gate_up, const V* d_product,
                                V* d_gate_up) {
    const auto for_rows = [&](const auto& kernel) {
        for (std::size_t row = 0; row < rows; ++row) {
            const V *const gates = gate_up + row * 2 * inner, *const upstream = d_product + row * inner;
            V* const d_gates = d_gate_up + row * 2 * inner;
            for (std::size_t i = 0; i < inner; ++i) {
                kernel(real(gates[i]), real(gates[inner + i]), real(upstream[i]), d_gates[i], d_gates[inner + i]);
            }
        }
    };
    for_rows([](auto gate, auto, auto upstream, V&, V& d_up) {
        d_up = stored<V>(upstream * gate / (1 + exponential(-gate)));
    });
    for_rows([](auto, auto up, auto upstream, V& d_gate, V&) { d_gate = stored<V>(upstream * up); });
    for_rows([](auto gate, auto, auto, V& d_gate, V&) {
        const auto sigmoid = 1 / (1 + exponential(-gate));
        d_gate = stored<V>(real(d_gate) * sigmoid * (1 + gate * (1 - sigmoid)));
    });
}

}  // namespace

template <typename V>
void activate_experts(models::ExpertKernels kernels, RowRange rows, std::size_t gates, std::size_t inner,
                      const V* gate_up, V* product) {
    const V* const from = gate_up + rows.begin * gates * inner;
    V* const to = product + rows.begin * inner;
    if (gates == 1) {
        gelu_forward(rows.size(), inner, from, to);
    } else if (kernels == models::ExpertKernels::kLoop) {
        swiglu_by_kernels(rows.size(), inner, from, to);
    } else {
        swiglu_forward(rows.size(), inner, from, to);
    }
}

template <typename V>
void activate_experts_backward(models::ExpertKernels kernels, RowRange rows, std::size_t gates, std::size_t inner,
                               const V* gate_up, const V* d_product, V* d_gate_up) {
    const V* const from = gate_up + rows.begin * gates * inner;
    V* const to = d_gate_up + rows.begin * gates * inner;
    if (gates == 1) {
        gelu_backward(rows.size(), inner, from, d_product, to);
    } else if (kernels == models::ExpertKernels::kLoop) {
        swiglu_by_kernels_backward(rows.size(), inner, from, d_product, to);
    } else {
        swiglu_backward(rows.size(), inner, from, d_product, to);
    }
}

#define AUSPEX_INSTANTIATE(V)                                                                                       \
    template void activate_experts<V>(models::ExpertKernels, RowRange, std::size_t, std::size_t, const V*, V*);     \
    template void activate_experts_backward<V>(models::ExpertKernels, RowRange, std::size_t, std::size_t, const V*, \
                                               const V*, V*);
AUSPEX_INSTANTIATE(float)
AUSPEX_INSTANTIATE(double)
AUSPEX_INSTANTIATE(Bf16)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
