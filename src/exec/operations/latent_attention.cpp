/// @file Latent attention: projections down to the latents of queries and of keys and values, their norms, projections
/// up to heads, rotation and scores. Every rank of a tp group makes the latents whole, and heads of its own: gradients
/// of latents, and of the weights that make them, are parts, which the sums over tp complete.
#include "exec/kernels/attention.hpp"
#include "exec/kernels/copies.hpp"
#include "exec/kernels/norm.hpp"
#include "exec/operations/sublayer.hpp"

namespace auspex::exec {
namespace {

template <class P>
struct Latent : SublayerContext<P, AttentionTensors<P>> {
    using Context = SublayerContext<P, AttentionTensors<P>>;
    using Context::current, Context::rank, Context::running, Context::s, Context::slots, Context::tensors;
    using typename Context::R;
    using typename Context::V;
    LatentTensors<P>& x;

    Latent(Rank<P>& on, const CurrentOperation& operation)
        : Context(on, operation, attention_of(on, operation), &models::Recompute::attention), x(tensors.latent) {}

    [[nodiscard]] bool makes_input_gradient() const { return current.op.phase == schedule::Phase::kBackwardInput; }

    /// A projection of the norm's output, [t, h] to [t, width].
    void from_norm(std::size_t width, std::size_t slot, Buffer<V>& made, Buffer<V>& gradient) {
        // gradients of weights that wait do not read them
        const auto weight = [&] { return weight_at(rank, slot); };
        if (current.forward()) {
            made = this->template kept<V>(s.t * width);
            linear_forward(s.t, width, s.h, sublayer_input<P>(rank, tensors), weight(), made.data());
        } else if (makes_input_gradient()) {
            const bool adds = !running.x.empty();
            if (!adds) {
                running.x = this->template workspace<V>(s.t * s.h);
            }
            linear_input_gradient(s.t, width, s.h, std::as_const(gradient).data(), weight(), running.x.data(), adds);
        } else {
            linear_weight_gradient(s.t, width, s.h, std::as_const(gradient).data(), sublayer_input<P>(rank, tensors),
                                   gradient_at(rank, slot));
            release(gradient);
        }
    }

    /// Gradients of weights that have waited go all at once.
    void release(Buffer<V>& gradient) {
        if (!current.has_waited()) {
            gradient.reset();
        }
    }

    /// The last gradient of a weight that reads the norm's output.
    void leave() {
        if (current.op.phase != schedule::Phase::kBackwardWeight) {
            return;
        }
        running.saved.reset();
        if (current.has_waited()) {
            tensors = {};
        }
    }

    void query_down() {
        from_norm(s.q_rank, slots.query_down, x.q_latent, x.d_q_latent);
        leave();
    }

    void key_value_down() {
        from_norm(s.kv_latent(), slots.key_value_down, x.kv_latent, x.d_kv_latent);
        if (s.q_rank == 0) {
            leave();
        }
    }

    void query_up() {
        if (s.q_rank == 0) {
            from_norm(s.query(), slots.query_up, x.query, x.d_query);
            return;
        }
        const auto weight = [&] { return weight_at(rank, slots.query_up); };
        if (current.forward()) {
            x.query = this->template kept<V>(s.t * s.query(), &models::Recompute::latent_up);
            linear_forward(s.t, s.query(), s.q_rank, x.q_normed.data(), weight(), x.query.data());
        } else if (makes_input_gradient()) {
            x.d_q_latent = this->template workspace<V>(s.t * s.q_rank);
            linear_input_gradient(s.t, s.query(), s.q_rank, x.d_query.data(), weight(), x.d_q_latent.data());
        } else {
            linear_weight_gradient(s.t, s.query(), s.q_rank, x.d_query.data(), x.q_normed.data(),
                                   gradient_at(rank, slots.query_up));
            release(x.d_query);
        }
    }

    /// The gradient of the rotated key, which heads share, goes behind that of the latent, as they were projected.
    void key_value_up() {
        const std::size_t width = s.key_value();
        const auto weight = [&] { return weight_at(rank, slots.key_value_up); };
        if (current.forward()) {
            x.key_value = this->template kept<V>(s.t * width, &models::Recompute::latent_up);
            linear_forward(s.t, width, s.kv_rank, x.kv_normed.data(), weight(), x.key_value.data());
        } else if (makes_input_gradient()) {
            x.d_kv_latent = this->template workspace<V>(s.t * s.kv_latent());
            linear_input_gradient(s.t, width, s.kv_rank, x.d_key_value.data(), weight(), x.d_kv_latent.data(), false,
                                  s.kv_latent());
            copy_columns(s.t, s.rope, x.d_shared_key.data(), s.rope, x.d_kv_latent.data() + s.kv_rank, s.kv_latent());
        } else {
            linear_weight_gradient(s.t, width, s.kv_rank, x.d_key_value.data(), x.kv_normed.data(),
                                   gradient_at(rank, slots.key_value_up));
            release(x.d_key_value);
            release(x.d_shared_key);
        }
    }

    /// Of one latent: `width` columns of rows `ld` apart.
    void norm_of(int which, std::size_t width, std::size_t ld, const Buffer<V>& latent, std::size_t slot,
                 Buffer<V>& normed, Buffer<V>& gradient) {
        const double epsilon = rank.training().norm_epsilon;
        const V* const weight = weight_at(rank, slot);
        R* const sums = tensors.sums.data();
        if (current.forward()) {
            normed = this->template kept<V>(s.t * width);
            square_sums(s.t, width, latent.data(), ld, sums, which);
            qk_norm_forward(s.t, width, width, epsilon, latent.data(), ld, weight, std::as_const(tensors.sums).data(),
                            which, normed.data(), width);
            return;
        }
        qk_norm_products(s.t, width, latent.data(), ld, weight, std::as_const(gradient).data(), ld,
                         running.qk_sums.data(), which);
        qk_norm_backward(s.t, width, width, epsilon, latent.data(), ld, weight, std::as_const(tensors.sums).data(),
                         std::as_const(running.qk_sums).data(), which, gradient.data(), ld, gradient_at(rank, slot));
    }

    void norm() {
        (current.forward() ? tensors.sums : running.qk_sums) =
            current.forward() ? this->template kept<R>(s.t * 2) : this->template workspace<R>(s.t * 2);
        if (s.q_rank > 0) {
            norm_of(0, s.q_rank, s.q_rank, x.q_latent, slots.q_norm, x.q_normed, x.d_q_latent);
        }
        norm_of(1, s.kv_rank, s.kv_latent(), x.kv_latent, slots.k_norm, x.kv_normed, x.d_kv_latent);
        running.qk_sums.reset();
    }

    /// The rotated part of each head's query, and the key that heads share.
    void rotary_embedding() {
        const bool back = !current.forward();
        const double theta = rank.training().rope_theta;
        Buffer<V>& query = back ? x.d_query : x.query;
        V* const key = back ? x.d_shared_key.data() : x.kv_latent.data() + s.kv_rank;
        rotate_apart(s.t, row_positions(rank.context, s), s.heads, s.rope, s.head + s.rope, theta,
                     query.data() + s.head, s.query(), back);
        if (current.op.phase != schedule::Phase::kRecompute || !this->redone.latent_up) {  // else it is kept as it is
            rotate(s.t, row_positions(rank.context, s), 1, s.rope, theta, key, back ? s.rope : s.kv_latent(), back);
        }
    }

    void attention() {
        LatentAttentionSizes sizes{s.sequences, s.sequence, s.heads, s.head, s.rope, s.value_head, s.kv_latent()};
        sizes.window = window_of(rank, current);
        const V *const query = x.query.data(), *const key_value = x.key_value.data(),
                       *const shared = x.kv_latent.data() + s.kv_rank;
        if (current.forward()) {
            if (tensors.output.empty()) {
                tensors.output = this->template kept<V>(s.t * s.value());
            }
            tensors.lse = this->template kept<R>(s.t * s.heads, &models::Recompute::core_attention);
            latent_attention_forward(sizes, query, key_value, shared, tensors.output.data(), tensors.lse.data());
            return;
        }
        x.d_query = this->template workspace<V>(s.t * s.query());
        x.d_key_value = this->template workspace<V>(s.t * s.key_value());
        x.d_shared_key = this->template workspace<V>(s.t * s.rope);
        Buffer<R> delta = this->template workspace<R>(s.t * s.heads);
        latent_attention_backward(sizes, query, key_value, shared, std::as_const(tensors.output).data(),
                                  std::as_const(tensors.lse).data(), std::as_const(running.x).data(), delta.data(),
                                  x.d_query.data(), x.d_key_value.data(), x.d_shared_key.data());
        running.x.reset();
    }
};

}  // namespace

template <class P>
bool run_latent_operation(Rank<P>& rank, const CurrentOperation& current) {
    if (rank.workload().attention != models::AttentionKind::kLatent) {
        return false;
    }
    const auto on = [&] { return Latent<P>(rank, current); };
    switch (current.op.kind) {
        case schedule::OpKind::kQueryDown: on().query_down(); return true;
        case schedule::OpKind::kKeyValueDown: on().key_value_down(); return true;
        case schedule::OpKind::kQueryUp: on().query_up(); return true;
        case schedule::OpKind::kKeyValueUp: on().key_value_up(); return true;
        case schedule::OpKind::kQkNorm: on().norm(); return true;
        case schedule::OpKind::kRotaryEmbedding: on().rotary_embedding(); return true;
        case schedule::OpKind::kAttention: on().attention(); return true;
        default: return false;
    }
}

template bool run_latent_operation(Rank<Fp32>&, const CurrentOperation&);
template bool run_latent_operation(Rank<Fp64>&, const CurrentOperation&);
template bool run_latent_operation(Rank<Bf16Precision>&, const CurrentOperation&);
template bool run_latent_operation(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&);

}  // namespace auspex::exec
