/// @file The experts' products: a loop over experts, grouped passes, and blocks of rows that stay in the cache.
#include "exec/kernels/experts.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"
#include "exec/kernels/copies.hpp"
#include "exec/kernels/elementwise.hpp"
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

/// An expert's matrices and biases among its parameters, or its gradients.
template <typename T>
struct ExpertArrays {
    T *gate_up, *down, *gate_up_bias, *down_bias;
    ExpertArrays(const ExpertShape& shape, T* all, std::size_t expert)
        : gate_up(all + expert * shape.stride),
          down(gate_up + shape.width() * shape.hidden),
          gate_up_bias(down + shape.inner * shape.hidden),
          down_bias(gate_up_bias + shape.width()) {}
};

/// The products of one expert on one range of its rows, with its biases.
template <typename V>
struct Products {
    const ExpertShape& shape;
    ExpertArrays<const V> of;
    Products(const ExpertShape& all, const V* weights, std::size_t expert) : shape(all), of(all, weights, expert) {}

    void into_gate_up(RowRange r, const V* permuted, V* to) const {
        linear_forward(r.size(), shape.width(), shape.hidden, permuted + r.begin * shape.hidden, of.gate_up,
                       to + r.begin * shape.width());
        if (shape.biased()) {
            add_bias(r.size(), shape.width(), of.gate_up_bias, to + r.begin * shape.width());
        }
    }
    /// One of the layers of gate_up, by itself: 0 gate, 1 up.
    void into_layer(RowRange r, std::size_t layer, const V* permuted, V* to) const {
        V* const columns = to + r.begin * shape.width() + layer * shape.inner;
        gemm(Transpose::kNo, Transpose::kYes, r.size(), shape.inner, shape.hidden, permuted + r.begin * shape.hidden,
             shape.hidden, of.gate_up + layer * shape.inner * shape.hidden, shape.hidden, columns, shape.width(),
             false);
        if (shape.biased()) {
            add_bias(r.size(), shape.inner, of.gate_up_bias + layer * shape.inner, columns, shape.width());
        }
    }
    void into_outputs(RowRange r, const V* product, V* to) const {
        linear_forward(r.size(), shape.hidden, shape.inner, product + r.begin * shape.inner, of.down,
                       to + r.begin * shape.hidden);
        if (shape.biased()) {
            add_bias(r.size(), shape.bias_width, of.down_bias, to + r.begin * shape.hidden + shape.bias_begin,
                     shape.hidden);
        }
    }
    /// `to` is where the first row of the range goes.
    void into_d_product(RowRange r, const V* d_rows, V* to) const {
        linear_input_gradient(r.size(), shape.hidden, shape.inner, d_rows + r.begin * shape.hidden, of.down, to);
    }
    void into_d_permuted(RowRange r, const V* d_gate_up, V* to) const {
        linear_input_gradient(r.size(), shape.width(), shape.hidden, d_gate_up + r.begin * shape.width(), of.gate_up,
                              to);
    }
    void layer_into_d_permuted(RowRange r, std::size_t layer, const V* d_gate_up, V* to) const {
        gemm(Transpose::kNo, Transpose::kNo, r.size(), shape.hidden, shape.inner,
             d_gate_up + r.begin * shape.width() + layer * shape.inner, shape.width(),
             of.gate_up + layer * shape.inner * shape.hidden, shape.hidden, to + r.begin * shape.hidden, shape.hidden,
             layer > 0);
    }
};

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
    activate_experts_backward(models::ExpertKernels::kLoop, r, shape.gates, shape.inner, x.gate_up,
                              std::as_const(x.d_product) + r.begin * shape.inner, x.d_gate_up);
    for (std::size_t layer = 0; layer < shape.gates; ++layer) {
        products.layer_into_d_permuted(r, layer, x.d_gate_up, x.d_permuted);
    }
}

template <typename V>
void loop_forward(const ExpertShape& shape, const V* weights, const V* rows, const ExpertForward<V>& x) {
    for_experts(shape, [&](std::size_t e, RowRange r) {
        const Products<V> products(shape, weights, e);
        gather_permuted(r, shape, x);
        for (std::size_t layer = 0; layer < shape.gates; ++layer) {
            products.into_layer(r, layer, rows, x.gate_up);
        }
        activate_experts(models::ExpertKernels::kLoop, r, shape.gates, shape.inner, std::as_const(x.gate_up),
                         x.product);
        products.into_outputs(r, x.product, x.outputs);
        send_back(r, shape, x.outputs, x.order, x.returned);
    });
}

template <typename V>
void grouped_forward(const ExpertShape& shape, const V* weights, const V* rows, const ExpertForward<V>& x) {
    gather_permuted(shape.rows(), shape, x);
    for_experts(shape,
                [&](std::size_t e, RowRange r) { Products(shape, weights, e).into_gate_up(r, rows, x.gate_up); });
    activate_experts(models::ExpertKernels::kGrouped, shape.rows(), shape.gates, shape.inner, std::as_const(x.gate_up),
                     x.product);
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
        activate_experts(models::ExpertKernels::kFused, r, shape.gates, shape.inner, std::as_const(x.gate_up),
                         x.product);
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
    activate_experts_backward(models::ExpertKernels::kGrouped, all, shape.gates, shape.inner, x.gate_up,
                              std::as_const(x.d_product), x.d_gate_up);
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
    const std::size_t h = shape.hidden;
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
        activate_experts_backward(models::ExpertKernels::kFused, r, shape.gates, shape.inner, x.gate_up,
                                  std::as_const(x.d_product), x.d_gate_up);
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
void expert_activation(models::ExpertKernels kernels, std::size_t rows, std::size_t gates, std::size_t inner,
                       const V* gate_up, V* product) {
    const RecordedScope scope(gates == 1 ? "gelu_forward" : "swiglu_forward", rows, inner);
    activate_experts(kernels, {0, rows}, gates, inner, gate_up, product);
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
    const std::size_t h = shape.hidden, i = shape.inner, width = shape.width();
    for_experts(shape, [&](std::size_t e, RowRange r) {
        const ExpertArrays<G> of(shape, gradients, e);
        const V* d_gates = d_gate_up + r.begin * width;
        linear_weight_gradient(r.size(), h, i, d_rows + r.begin * h, product + r.begin * i, of.down);
        if (shape.biased()) {
            bias_gradient(r.size(), width, d_gates, of.gate_up_bias);
            bias_gradient(r.size(), shape.bias_width, d_rows + r.begin * h + shape.bias_begin, of.down_bias, h);
        }
        if (kernels != models::ExpertKernels::kLoop) {
            return linear_weight_gradient(r.size(), width, h, d_gates, rows + r.begin * h, of.gate_up);
        }
        for (std::size_t layer = 0; layer < shape.gates; ++layer) {
            gemm(Transpose::kYes, Transpose::kNo, i, h, r.size(), d_gates + layer * i, width, rows + r.begin * h, h,
                 of.gate_up + layer * i * h, h, true);
        }
    });
}

#define AUSPEX_INSTANTIATE_FORWARD(V)                                                                                \
    template void expert_forward<V>(models::ExpertKernels, const ExpertShape&, const V*, const ExpertForward<V>&);   \
    template void expert_backward<V>(models::ExpertKernels, const ExpertShape&, const V*, const ExpertBackward<V>&); \
    template void expert_activation<V>(models::ExpertKernels, std::size_t, std::size_t, std::size_t, const V*, V*);
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
