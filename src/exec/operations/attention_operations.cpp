/// @file Attention: projection, norm and rotation of queries and keys, scores, output, forward and backward.
#include "exec/kernels/attention.hpp"
#include "exec/kernels/norm.hpp"
#include "exec/operations/sublayer.hpp"

namespace auspex::exec {
namespace {

template <class P>
struct Attention : SublayerContext<P, AttentionTensors<P>> {
    using Context = SublayerContext<P, AttentionTensors<P>>;
    using Context::current, Context::rank, Context::running, Context::s, Context::slots, Context::tensors;
    using typename Context::R;
    using typename Context::V;

    Attention(Rank<P>& on, const CurrentOperation& operation)
        : Context(on, operation, attention_of(on, operation), &models::Recompute::attention) {}

    void qkv_projection() {
        if (current.forward()) {
            tensors.qkv = this->template kept<V>(s.t * s.qkv);
        }
        run_first_linear(rank, current, tensors, s.qkv, {slots.qkv, slots.qkv_bias}, tensors.qkv);
    }

    /// Forward: squares; backward: products. Of this rank's columns.
    void qk_norm_sums() {
        const std::size_t ld = s.qkv;
        if (current.forward()) {
            tensors.sums = this->template kept<R>(s.t * 2);
            square_sums(s.t, s.q, tensors.qkv.data(), ld, tensors.sums.data(), 0);
            square_sums(s.t, s.kv, tensors.qkv.data() + s.q, ld, tensors.sums.data(), 1);
        } else {
            running.qk_sums = this->template workspace<R>(s.t * 2);
            qk_norm_products(s.t, s.q, tensors.qkv.data(), ld, weight_at(rank, slots.q_norm), running.upstream.data(),
                             ld, running.qk_sums.data(), 0);
            qk_norm_products(s.t, s.kv, tensors.qkv.data() + s.q, ld, weight_at(rank, slots.k_norm),
                             running.upstream.data() + s.q, ld, running.qk_sums.data(), 1);
        }
    }

    void qk_norm() {
        if (s.tp == 1) {
            qk_norm_sums();
        }
        const double epsilon = rank.training().norm_epsilon;
        const V* qkv = tensors.qkv.data();
        const R* sums = tensors.sums.data();
        if (current.forward()) {
            const std::size_t ld = s.q + s.kv;
            tensors.qk = this->template kept<V>(s.t * ld);
            qk_norm_forward(s.t, s.q, s.q * s.tp, epsilon, qkv, s.qkv, weight_at(rank, slots.q_norm), sums, 0,
                            tensors.qk.data(), ld);
            qk_norm_forward(s.t, s.kv, s.kv * s.tp, epsilon, qkv + s.q, s.qkv, weight_at(rank, slots.k_norm), sums, 1,
                            tensors.qk.data() + s.q, ld);
        } else {
            const R* products = running.qk_sums.data();
            V* gradient = running.upstream.data();
            qk_norm_backward(s.t, s.q, s.q * s.tp, epsilon, qkv, s.qkv, weight_at(rank, slots.q_norm), sums, products,
                             0, gradient, s.qkv, gradient_at(rank, slots.q_norm));
            qk_norm_backward(s.t, s.kv, s.kv * s.tp, epsilon, qkv + s.q, s.qkv, weight_at(rank, slots.k_norm), sums,
                             products, 1, gradient + s.q, s.qkv, gradient_at(rank, slots.k_norm));
            running.qk_sums.reset();
        }
    }

    /// Queries and keys follow one another in a row: all their heads are rotated at once.
    void rotary_embedding() {
        Buffer<V>& turned = !current.forward() ? running.upstream : tensors.qk.empty() ? tensors.qkv : tensors.qk;
        rotate(s.t, row_positions(rank.context, s), s.heads + s.kv_heads, s.head, rank.training().rope_theta,
               turned.data(), turned.size() / s.t, !current.forward());
    }

    void attention() {
        const bool normed = !tensors.qk.empty();
        const std::size_t ld = normed ? s.q + s.kv : s.qkv;
        AttentionSizes sizes{s.sequences, s.sequence, s.heads, s.kv_heads, s.head, ld, ld, s.qkv, s.qkv};
        sizes.window = window_of(rank, current);
        const V* q = normed ? tensors.qk.data() : tensors.qkv.data();
        const V *k = q + s.q, *v = tensors.qkv.data() + s.q + s.kv;
        if (current.forward()) {
            if (tensors.output.empty()) {  // recomputed by itself it is written once more
                tensors.output = this->template kept<V>(s.t * s.q);
            }
            tensors.lse = this->template kept<R>(s.t * s.heads, &models::Recompute::core_attention);
            attention_forward(sizes, q, k, v, tensors.output.data(), tensors.lse.data());
            return;
        }
        running.upstream = this->template workspace<V>(s.t * s.qkv);
        Buffer<R> delta = this->template workspace<R>(s.t * s.heads);
        V* gradient = running.upstream.data();
        attention_backward(sizes, q, k, v, tensors.output.data(), tensors.lse.data(), running.x.data(), delta.data(),
                           gradient, gradient + s.q, gradient + s.q + s.kv);
        running.x.reset();
    }

    void release_parts() {
        if (this->redone.core_attention) {
            tensors.lse.reset(), tensors.heads_output.reset();
            if (rank.context.gathers()) {
                tensors.context.reset();
            }
        }
        if (this->redone.latent_up) {
            tensors.latent.query.reset(), tensors.latent.key_value.reset();
        }
    }

    void attention_output() {
        run_last_linear(rank, current, tensors, tensors.output, s.value(),
                        {slots.attention_output, slots.attention_output_bias});
        if (current.forward()) {
            this->finish(
                false,
                [&] {
                    tensors.qkv.reset(), tensors.sums.reset(), tensors.qk.reset();
                    tensors.lse.reset(), tensors.output.reset();
                    tensors.context.reset(), tensors.heads_output.reset();
                    tensors.latent = {};
                },
                [&] { release_parts(); });
        }
    }
};

}  // namespace

template <class P>
bool run_attention_operation(Rank<P>& rank, const CurrentOperation& current) {
    const auto on = [&] { return Attention<P>(rank, current); };
    switch (current.op.kind) {
        case schedule::OpKind::kAttentionNorm:
            run_sublayer_norm(rank, current, attention_of(rank, current), slots_of(rank, current).attention_norm);
            return true;
        case schedule::OpKind::kQkvProjection: on().qkv_projection(); return true;
        case schedule::OpKind::kQkNormSums: on().qk_norm_sums(); return true;
        case schedule::OpKind::kQkNorm: on().qk_norm(); return true;
        case schedule::OpKind::kRotaryEmbedding: on().rotary_embedding(); return true;
        case schedule::OpKind::kAttention: on().attention(); return true;
        case schedule::OpKind::kAttentionOutput: on().attention_output(); return true;
        default: return false;
    }
}

template bool run_attention_operation(Rank<Fp32>&, const CurrentOperation&);
template bool run_attention_operation(Rank<Fp64>&, const CurrentOperation&);
template bool run_attention_operation(Rank<Bf16Precision>&, const CurrentOperation&);
template bool run_attention_operation(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&);

}  // namespace auspex::exec
