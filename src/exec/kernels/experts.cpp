/// @file The experts' products: a loop over experts, grouped passes, and blocks of rows that stay in the cache.
#include "exec/kernels/experts.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"
#include "exec/kernels/copies.hpp"
#include "exec/kernels/elementwise.hpp"
#include "exec/kernels/exponential.hpp"
#include "exec/kernels/gemm.hpp"
#include "models/cpu/cpu_kernel.hpp"

namespace auspex::exec {
namespace {

std::string_view by_kernels(models::ExpertKernels kernels, std::string_view loop, std::string_view grouped,
                            std::string_view fused) {
    return kernels == models::ExpertKernels::kLoop      ? loop
           : kernels == models::ExpertKernels::kGrouped ? grouped
                                                        : fused;
}

/// The products of one expert on one range of its rows.
template <typename V>
struct Products {
    const ExpertShape& shape;
    const V* gate_up;
    const V* down;
    Products(const ExpertShape& of, const V* weights, std::size_t expert)
        : shape(of), gate_up(weights + expert * of.stride), down(gate_up + 2 * of.inner * of.hidden) {}

    void into_gate_up(RowRange r, const V* permuted, V* to) const {
        linear_forward(r.size(), 2 * shape.inner, shape.hidden, permuted + r.begin * shape.hidden, gate_up,
                       to + r.begin * 2 * shape.inner);
    }
    /// One half of gate_up: 0 gate, 1 up.
    void into_half(RowRange r, std::size_t half, const V* permuted, V* to) const {
        gemm(Transpose::kNo, Transpose::kYes, r.size(), shape.inner, shape.hidden, permuted + r.begin * shape.hidden,
             shape.hidden, gate_up + half * shape.inner * shape.hidden, shape.hidden,
             to + r.begin * 2 * shape.inner + half * shape.inner, 2 * shape.inner, false);
    }
    void into_outputs(RowRange r, const V* product, V* to) const {
        linear_forward(r.size(), shape.hidden, shape.inner, product + r.begin * shape.inner, down,
                       to + r.begin * shape.hidden);
    }
    /// `to` is where the first row of the range goes.
    void into_d_product(RowRange r, const V* d_rows, V* to) const {
        linear_input_gradient(r.size(), shape.hidden, shape.inner, d_rows + r.begin * shape.hidden, down, to);
    }
    void into_d_permuted(RowRange r, const V* d_gate_up, V* to) const {
        linear_input_gradient(r.size(), 2 * shape.inner, shape.hidden, d_gate_up + r.begin * 2 * shape.inner, gate_up,
                              to);
    }
    void half_into_d_permuted(RowRange r, std::size_t half, const V* d_gate_up, V* to) const {
        gemm(Transpose::kNo, Transpose::kNo, r.size(), shape.hidden, shape.inner,
             d_gate_up + r.begin * 2 * shape.inner + half * shape.inner, 2 * shape.inner,
             gate_up + half * shape.inner * shape.hidden, shape.hidden, to + r.begin * shape.hidden, shape.hidden,
             half == 1);
    }
};

template <typename V>
void activate(RowRange r, std::size_t inner, const V* gate_up, V* product) {
    swiglu_forward(r.size(), inner, gate_up + r.begin * 2 * inner, product + r.begin * inner);
}
/// SiLU and product as two kernels.
template <typename V>
void loop_activate(RowRange r, std::size_t inner, const V* gate_up, V* product) {
    for (std::size_t row = r.begin; row < r.end; ++row) {
        for (std::size_t i = 0; i < inner; ++i) {
            const auto gate = real(gate_up[row * 2 * inner + i]);
            product[row * inner + i] = stored<V>(gate / (1 + exponential(-gate)));
        }
    }
    for (std::size_t row = r.begin; row < r.end; ++row) {
        for (std::size_t i = 0; i < inner; ++i) {
            const auto up = real(gate_up[row * 2 * inner + inner + i]);
            product[row * inner + i] = stored<V>(real(product[row * inner + i]) * up);
        }
    }
}
/// The product's two gradients, and SiLU's, as three kernels.
template <typename V>
void loop_activate_backward(RowRange r, std::size_t inner, const V* gate_up, const V* d_product, V* d_gate_up) {
    const auto for_rows = [&](const auto& kernel) {
        for (std::size_t row = r.begin; row < r.end; ++row) {
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

/// Calls `body(expert, range)` for blocks of one expert's rows, of nearly equal size and of at most `most`.
template <typename Body>
void for_blocks(const ExpertShape& shape, std::size_t most, const Body& body) {
    for (std::size_t e = 0; e < shape.experts; ++e) {
        const RowRange all = shape.rows_of(e);
        const std::size_t blocks = all.size() / most + (all.size() % most != 0 ? 1 : 0);
        for (std::size_t i = 0; i < blocks; ++i) {
            body(e, RowRange{all.begin + all.size() * i / blocks, all.begin + all.size() * (i + 1) / blocks});
        }
    }
}
template <typename Body>
void for_experts(const ExpertShape& shape, const Body& body) {
    for_blocks(shape, static_cast<std::size_t>(-1), body);
}

template <typename V>
void gather_permuted(RowRange r, const ExpertShape& shape, const ExpertForward<V>& x) {
    if (x.order.index != nullptr) {
        gather_rows(r, shape.hidden, x.source, x.order, x.permuted);
    }
}
template <typename V>
void send_back(RowRange r, const ExpertShape& shape, const V* rows, RowOrder order, V* returned) {
    if (returned != nullptr) {
        scatter_rows(r, shape.hidden, rows, order, returned);
    }
}
template <typename V>
void gather_arrived(RowRange r, const ExpertShape& shape, const ExpertBackward<V>& x) {
    if (x.arrived != nullptr) {
        gather_rows(r, shape.hidden, x.arrived, x.order, x.d_rows);
    }
}

template <typename V>
void loop_products_backward(std::size_t e, RowRange r, const ExpertShape& shape, const V* weights,
                            const ExpertBackward<V>& x) {
    const Products<V> products(shape, weights, e);
    products.into_d_product(r, x.d_rows, x.d_product + r.begin * shape.inner);
    loop_activate_backward(r, shape.inner, x.gate_up, x.d_product, x.d_gate_up);
    products.half_into_d_permuted(r, 0, x.d_gate_up, x.d_permuted);
    products.half_into_d_permuted(r, 1, x.d_gate_up, x.d_permuted);
}

template <typename V>
void loop_forward(const ExpertShape& shape, const V* weights, const V* rows, const ExpertForward<V>& x) {
    for_experts(shape, [&](std::size_t e, RowRange r) {
        const Products<V> products(shape, weights, e);
        gather_permuted(r, shape, x);
        products.into_half(r, 0, rows, x.gate_up);
        products.into_half(r, 1, rows, x.gate_up);
        loop_activate(r, shape.inner, x.gate_up, x.product);
        products.into_outputs(r, x.product, x.outputs);
        send_back(r, shape, x.outputs, x.order, x.returned);
    });
}

template <typename V>
void grouped_forward(const ExpertShape& shape, const V* weights, const V* rows, const ExpertForward<V>& x) {
    gather_permuted(shape.rows(), shape, x);
    for_experts(shape,
                [&](std::size_t e, RowRange r) { Products(shape, weights, e).into_gate_up(r, rows, x.gate_up); });
    activate(shape.rows(), shape.inner, x.gate_up, x.product);
    for_experts(shape,
                [&](std::size_t e, RowRange r) { Products(shape, weights, e).into_outputs(r, x.product, x.outputs); });
    send_back(shape.rows(), shape, x.outputs, x.order, x.returned);
}

template <typename V>
void fused_forward(const ExpertShape& shape, const V* weights, const V* rows, const ExpertForward<V>& x) {
    for_blocks(shape, models::kFusedRows, [&](std::size_t e, RowRange r) {
        const Products<V> products(shape, weights, e);
        gather_permuted(r, shape, x);
        products.into_gate_up(r, rows, x.gate_up);
        activate(r, shape.inner, x.gate_up, x.product);
        products.into_outputs(r, x.product, x.outputs);
        send_back(r, shape, x.outputs, x.order, x.returned);
    });
}

template <typename V>
void grouped_backward(const ExpertShape& shape, const V* weights, const ExpertBackward<V>& x) {
    gather_arrived(shape.rows(), shape, x);
    for_experts(shape, [&](std::size_t e, RowRange r) {
        Products(shape, weights, e).into_d_product(r, x.d_rows, x.d_product + r.begin * shape.inner);
    });
    const RowRange all = shape.rows();
    swiglu_backward(all.size(), shape.inner, x.gate_up, std::as_const(x.d_product), x.d_gate_up);
    for_experts(shape, [&](std::size_t e, RowRange r) {
        Products(shape, weights, e).into_d_permuted(r, x.d_gate_up, x.d_permuted + r.begin * shape.hidden);
    });
    send_back(all, shape, x.d_permuted, x.order, x.returned);
    if (x.d_tokens != nullptr) {
        const RealOf<V>* unweighted = nullptr;
        sum_rows(models::ExpertKernels::kGrouped, *x.assignment, shape.hidden, std::as_const(x.d_permuted), unweighted,
                 x.d_tokens);
    }
}

/// Of d_product and, where its rows are carried away at once, of d_permuted every block uses the same rows, the first
/// ones: they never leave the cache. Sums of a format that rounds wait for all rows, to be rounded once.
template <typename V>
void fused_backward(const ExpertShape& shape, const V* weights, const ExpertBackward<V>& x) {
    using R = RealOf<V>;
    const std::size_t h = shape.hidden, i = shape.inner;
    const R* unweighted = nullptr;
    const bool adds_at_once = x.d_tokens != nullptr && std::is_same_v<V, R>;
    const bool keeps_rows = x.returned == nullptr && !adds_at_once;
    if (adds_at_once) {
        clear_values(std::span<V>(x.d_tokens, x.assignment->tokens * h));
    }
    for_blocks(shape, models::kFusedRows, [&](std::size_t e, RowRange r) {
        const Products<V> products(shape, weights, e);
        const RowRange block{0, r.size()};
        V* const d_permuted = x.d_permuted + (keeps_rows ? r.begin * h : 0);
        gather_arrived(r, shape, x);
        products.into_d_product(r, x.d_rows, x.d_product);
        swiglu_backward(r.size(), i, x.gate_up + r.begin * 2 * i, std::as_const(x.d_product),
                        x.d_gate_up + r.begin * 2 * i);
        products.into_d_permuted(r, x.d_gate_up, d_permuted);
        send_back(block, shape, d_permuted, x.order.from(r.begin), x.returned);
        if (adds_at_once) {
            scatter_add_rows(block, h, d_permuted, x.assignment->tokens_of_rows().from(r.begin), unweighted,
                             x.d_tokens);
        }
    });
    if (x.d_tokens != nullptr && !adds_at_once) {
        sum_rows(models::ExpertKernels::kFused, *x.assignment, h, std::as_const(x.d_permuted), unweighted, x.d_tokens);
    }
}

}  // namespace

template <typename V>
void expert_forward(models::ExpertKernels kernels, const ExpertShape& shape, const V* weights,
                    const ExpertForward<V>& x) {
    const RecordedScope scope(
        by_kernels(kernels, "expert_forward_loop", "expert_forward_grouped", "expert_forward_fused"),
        shape.rows().size(), shape.inner, shape.hidden, shape.experts);
    const V* rows = x.order.index == nullptr ? x.source : x.permuted;
    switch (kernels) {
        case models::ExpertKernels::kLoop: return loop_forward(shape, weights, rows, x);
        case models::ExpertKernels::kGrouped: return grouped_forward(shape, weights, rows, x);
        case models::ExpertKernels::kFused: return fused_forward(shape, weights, rows, x);
    }
}

template <typename V>
void expert_activation(models::ExpertKernels kernels, std::size_t rows, std::size_t inner, const V* gate_up,
                       V* product) {
    const RecordedScope scope("swiglu_forward", rows, inner);
    kernels == models::ExpertKernels::kLoop ? loop_activate({0, rows}, inner, gate_up, product)
                                            : activate({0, rows}, inner, gate_up, product);
}

template <typename V>
void expert_backward(models::ExpertKernels kernels, const ExpertShape& shape, const V* weights,
                     const ExpertBackward<V>& x) {
    const RecordedScope scope(
        by_kernels(kernels, "expert_backward_loop", "expert_backward_grouped", "expert_backward_fused"),
        shape.rows().size(), shape.inner, shape.hidden, shape.experts);
    switch (kernels) {
        case models::ExpertKernels::kLoop:
            AUSPEX_CHECK(x.d_tokens == nullptr, "the loop sums its rows in loop_backward");
            return for_experts(shape, [&](std::size_t e, RowRange r) {
                gather_arrived(r, shape, x);
                loop_products_backward(e, r, shape, weights, x);
                send_back(r, shape, x.d_permuted, x.order, x.returned);
            });
        case models::ExpertKernels::kGrouped: return grouped_backward(shape, weights, x);
        case models::ExpertKernels::kFused: return fused_backward(shape, weights, x);
    }
}

template <typename V, typename R>
void loop_backward(const ExpertShape& shape, const Assignment& assignment, const V* weights, const ExpertBackward<V>& x,
                   const LoopGradients<V, R>& sums) {
    const RecordedScope scope("expert_backward_loop", shape.rows().size(), shape.inner, shape.hidden, shape.experts);
    const std::size_t elements = assignment.tokens * shape.hidden;
    const R* unweighted = nullptr;
    clear_values(std::span<V>(sums.d_tokens, elements));
    for_experts(shape, [&](std::size_t e, RowRange r) {
        sum_rows_backward(models::ExpertKernels::kLoop, assignment, r, shape.hidden, sums.d_sums, sums.outputs,
                          sums.weights, x.d_rows, sums.d_weights);
        loop_products_backward(e, r, shape, weights, x);
        clear_values(std::span<V>(sums.one_expert, elements));
        scatter_add_rows(r, shape.hidden, x.d_permuted, assignment.tokens_of_rows(), unweighted, sums.one_expert);
        add(elements, sums.d_tokens, sums.one_expert, sums.d_tokens);
    });
}

template <typename V, typename G>
void expert_weight_gradients(models::ExpertKernels kernels, const ExpertShape& shape, const V* rows, const V* product,
                             const V* d_rows, const V* d_gate_up, G* gradients) {
    const RecordedScope scope(by_kernels(kernels, "expert_weight_gradients_loop", "expert_weight_gradients_grouped",
                                         "expert_weight_gradients_grouped"),
                              shape.rows().size(), shape.inner, shape.hidden, shape.experts);
    const std::size_t h = shape.hidden, i = shape.inner;
    for_experts(shape, [&](std::size_t e, RowRange r) {
        G* gate_up = gradients + e * shape.stride;
        const V* d_gates = d_gate_up + r.begin * 2 * i;
        linear_weight_gradient(r.size(), h, i, d_rows + r.begin * h, product + r.begin * i, gate_up + 2 * i * h);
        if (kernels != models::ExpertKernels::kLoop) {
            return linear_weight_gradient(r.size(), 2 * i, h, d_gates, rows + r.begin * h, gate_up);
        }
        for (std::size_t half = 0; half < 2; ++half) {
            gemm(Transpose::kYes, Transpose::kNo, i, h, r.size(), d_gates + half * i, 2 * i, rows + r.begin * h, h,
                 gate_up + half * i * h, h, true);
        }
    });
}

#define AUSPEX_INSTANTIATE_FORWARD(V)                                                                                \
    template void expert_forward<V>(models::ExpertKernels, const ExpertShape&, const V*, const ExpertForward<V>&);   \
    template void expert_backward<V>(models::ExpertKernels, const ExpertShape&, const V*, const ExpertBackward<V>&); \
    template void expert_activation<V>(models::ExpertKernels, std::size_t, std::size_t, const V*, V*);
#define AUSPEX_INSTANTIATE(V, R)                                                                                 \
    AUSPEX_INSTANTIATE_FORWARD(V)                                                                                \
    template void loop_backward<V, R>(const ExpertShape&, const Assignment&, const V*, const ExpertBackward<V>&, \
                                      const LoopGradients<V, R>&);
#define AUSPEX_INSTANTIATE_GRADIENTS(V, G)                                                                     \
    template void expert_weight_gradients<V, G>(models::ExpertKernels, const ExpertShape&, const V*, const V*, \
                                                const V*, const V*, G*);
AUSPEX_INSTANTIATE(float, float)
AUSPEX_INSTANTIATE(double, double)
AUSPEX_INSTANTIATE(Bf16, float)
AUSPEX_INSTANTIATE_GRADIENTS(float, float)
AUSPEX_INSTANTIATE_GRADIENTS(double, double)
AUSPEX_INSTANTIATE_GRADIENTS(Bf16, Bf16)
AUSPEX_INSTANTIATE_GRADIENTS(Bf16, float)
#undef AUSPEX_INSTANTIATE
#undef AUSPEX_INSTANTIATE_FORWARD
#undef AUSPEX_INSTANTIATE_GRADIENTS

}  // namespace auspex::exec
