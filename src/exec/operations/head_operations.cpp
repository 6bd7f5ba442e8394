/// @file Embedding, final norm, LM head, cross entropy.
#include "exec/operations/head_operations.hpp"

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"
#include "exec/kernels/elementwise.hpp"
#include "exec/kernels/gemm.hpp"
#include "exec/kernels/norm.hpp"
#include "exec/operations/sublayer.hpp"

namespace auspex::exec {
namespace {

/// Tokens of a micro-batch [t] that the model reads (first = 0) or should say (first = 1: each one's successor), or
/// that a prediction module does, further on: kNoToken behind a sequence's end.
template <class P>
std::vector<std::int32_t> tokens_from(const Rank<P>& rank, int micro_batch, std::size_t first) {
    const RankShapes& s = rank.shapes;
    const MicroBatchTokens& tokens = rank.tokens.at(static_cast<std::size_t>(micro_batch));
    AUSPEX_CHECK(tokens.size() == s.sequences * (s.sequence + 1), "every sequence has the token that follows it");
    std::vector<std::int32_t> rows;
    rows.reserve(s.t);
    record_call("copy", 1, s.t * sizeof(std::int32_t));
    for (std::size_t i = 0; i < s.sequences; ++i) {
        const std::span<const std::int32_t> sequence = std::span(tokens).subspan(i * (s.sequence + 1), s.sequence + 1);
        for (const models::TokenRun& run : rank.context.runs) {
            const std::size_t from = std::min(static_cast<std::size_t>(run.first) + first, sequence.size());
            const std::size_t there = std::min(static_cast<std::size_t>(run.count), sequence.size() - from);
            rows.insert(rows.end(), sequence.begin() + static_cast<std::ptrdiff_t>(from),
                        sequence.begin() + static_cast<std::ptrdiff_t>(from + there));
            rows.resize(rows.size() + static_cast<std::size_t>(run.count) - there, kNoToken);
        }
    }
    return rows;
}

template <class P>
struct Head {
    using V = typename P::Value;
    using R = typename P::Real;
    Rank<P>& rank;
    const CurrentOperation& current;
    PassTensors<P>& pass;
    HeadTensors<P>& head;
    const RankShapes& s;
    RunningValues<P>& running;

    Head(Rank<P>& on, const CurrentOperation& operation)
        : rank(on),
          current(operation),
          pass(pass_of(on, operation)),
          head(head_of(on, operation)),
          s(on.shapes),
          running(on.running) {}

    /// First token of the rank's part of the vocabulary.
    [[nodiscard]] std::int32_t first_token() const {
        return rank.coordinates.tp * static_cast<std::int32_t>(s.vocabulary);
    }
    [[nodiscard]] const V* lm_head_input() const {
        return head.gathered_norm.empty() ? head.norm.data() : head.gathered_norm.data();
    }

    /// Calls visit(sequences, their first row, the first position, elements) for rows of learned positions: a position
    /// is one for every sequence; parts of sequences lie apart.
    template <class Visit>
    void for_each_position_run(const Visit& visit) const {
        if (rank.context.cp == 1) {
            return visit(s.sequences, 0, 0, s.sequence * s.h);
        }
        std::size_t row = 0;
        for (std::size_t i = 0; i < s.sequences; ++i) {
            for (const models::TokenRun& run : rank.context.runs) {
                const auto count = static_cast<std::size_t>(run.count);
                visit(1, row, static_cast<std::size_t>(run.first), count * s.h);
                row += count;
            }
        }
    }
    void add_positions(V* x) const {
        const V* const table = weight_at(rank, rank.table.positions);
        for_each_position_run([&](std::size_t sequences, std::size_t row, std::size_t position, std::size_t elements) {
            add_bias(sequences, elements, table + position * s.h, x + row * s.h);
        });
    }
    void add_position_gradients(const V* gradient) const {
        auto* const table = gradient_at(rank, rank.table.positions);
        for_each_position_run([&](std::size_t sequences, std::size_t row, std::size_t position, std::size_t elements) {
            bias_gradient(sequences, elements, gradient + row * s.h, table + position * s.h);
        });
    }

    /// For a prediction module.
    void look_up() {
        const std::size_t further = static_cast<std::size_t>(current.op.layer - rank.workload().layers) + 1;
        const std::vector<std::int32_t> tokens = tokens_from(rank, current.micro_batch, further);
        if (current.forward()) {
            const schedule::MemoryLabel label =
                s.sequence_parallel ? schedule::MemoryLabel::kWorkspace : schedule::MemoryLabel::kActivations;
            Buffer<V>& x = s.sequence_parallel ? running.x : prediction_of(rank, current).embedding;
            x = Buffer<V>(*rank.arena, label, s.t * s.h);
            embedding_forward(s.t, s.h, tokens.data(), first_token(), s.vocabulary, weight_at(rank, rank.table.lookup),
                              x.data());
            return;
        }
        const Buffer<V>& gradient = s.sequence_parallel ? running.gathered_g : running.d_embedding;
        embedding_backward(s.t, s.h, tokens.data(), first_token(), s.vocabulary, gradient.data(),
                           gradient_at(rank, rank.table.lookup));
        running.d_embedding.reset(), running.gathered_g.reset();
    }

    void embedding() {
        if (current.op.layer >= 0) {
            return look_up();
        }
        const std::vector<std::int32_t> tokens = tokens_from(rank, current.micro_batch, 0);
        if (current.forward()) {
            const schedule::MemoryLabel label =
                s.sequence_parallel ? schedule::MemoryLabel::kWorkspace : schedule::MemoryLabel::kActivations;
            Buffer<V>& x = s.sequence_parallel ? running.x : pass.attention.front().input;
            x = Buffer<V>(*rank.arena, label, s.t * s.h);
            embedding_forward(s.t, s.h, tokens.data(), first_token(), s.vocabulary,
                              weight_at(rank, rank.table.embedding), x.data());
            if (rank.workload().learned_positions && rank.coordinates.tp == 0) {  // the sum over tp has them once
                add_positions(x.data());
            }
            pass.router_logits = make_router_logits(rank, current.virtual_stage);
            return;
        }
        const Buffer<V>& gradient = s.sequence_parallel ? running.x : running.g;
        embedding_backward(s.t, s.h, tokens.data(), first_token(), s.vocabulary, gradient.data(),
                           gradient_at(rank, rank.table.embedding));
        if (rank.workload().learned_positions) {
            add_position_gradients(gradient.data());
        }
        running.x.reset(), running.g.reset();
        pass.router_logits.reset();
    }

    [[nodiscard]] std::size_t norm_slot() const {
        const auto layer = static_cast<std::size_t>(rank.workload().layers) + running.head - 1;
        return running.head == 0 ? rank.table.final_norm : rank.table.layers[layer].head_norm;
    }

    /// Backward the gradient of the state through prediction modules behind it is there already.
    void final_norm() {
        const double epsilon = rank.training().norm_epsilon;
        const V* weight = weight_at(rank, norm_slot());
        if (current.forward()) {
            head.norm = Buffer<V>(*rank.arena, schedule::MemoryLabel::kActivations, s.t_slice * s.h);
            norm_forward(rank.workload().norm, s.t_slice, s.h, epsilon, head.input.data(), weight, head.norm.data());
            return;
        }
        Buffer<V> gradient(*rank.arena, schedule::MemoryLabel::kWorkspace, s.t_slice * s.h);
        norm_backward(rank.workload().norm, s.t_slice, s.h, epsilon, head.input.data(), weight, running.x.data(),
                      gradient.data(), gradient_at(rank, norm_slot()));
        if (!running.g.empty()) {
            add(gradient.size(), std::as_const(gradient).data(), std::as_const(running.g).data(), gradient.data());
        }
        running.g = std::move(gradient);
        running.x.reset();
        head.input.reset(), head.norm.reset();
    }

    void lm_head() {
        if (current.forward()) {
            head.logits = Buffer<R>(*rank.arena, schedule::MemoryLabel::kLogits, s.t * s.vocabulary);
            linear_forward(s.t, s.vocabulary, s.h, lm_head_input(), weight_at(rank, rank.table.lm_head),
                           head.logits.data());
        } else if (current.op.phase == schedule::Phase::kBackwardInput) {
            running.x = Buffer<V>(*rank.arena, schedule::MemoryLabel::kWorkspace, s.t * s.h);
            linear_input_gradient(s.t, s.vocabulary, s.h, head.logits.data(), weight_at(rank, rank.table.lm_head),
                                  running.x.data());
        } else {
            linear_weight_gradient(s.t, s.vocabulary, s.h, head.logits.data(), lm_head_input(),
                                   gradient_at(rank, rank.table.lm_head));
            head.logits.reset(), head.parts.reset(), head.gathered_norm.reset();
        }
    }

    void cross_entropy() {
        const std::vector<std::int32_t> targets = tokens_from(rank, current.micro_batch, running.head + 1);
        const double balance_scale = rank.training().auxiliary_loss / rank.run->layout.global_batch;
        if (current.forward()) {
            head.parts = Buffer<R>(*rank.arena, schedule::MemoryLabel::kLogits, s.t * 3);
            cross_entropy_parts(s.t, s.vocabulary, head.logits.data(), targets.data(), first_token(),
                                head.parts.data());
            if (s.tp == 1) {
                add_cross_entropy(rank, head);
            }
            if (!pass.router_logits.empty() && rank.coordinates.tp == 0) {
                rank.loss.auxiliary += balance_scale * global_balance_sum(rank, current.micro_batch,
                                                                          std::as_const(pass.router_logits).span());
            }
            return;
        }
        cross_entropy_backward(s.t, s.vocabulary, head.logits.data(), targets.data(), first_token(), head.parts.data(),
                               cross_entropy_scale(rank));
        if (!pass.router_logits.empty()) {
            global_balance_backward(rank, current.micro_batch, balance_scale, pass.router_logits.span());
        }
    }
};

}  // namespace

template <class P>
bool run_head_operation(Rank<P>& rank, const CurrentOperation& current) {
    const auto on = [&] { return Head<P>(rank, current); };
    switch (current.op.kind) {
        case schedule::OpKind::kEmbedding: on().embedding(); return true;
        case schedule::OpKind::kFinalNorm: on().final_norm(); return true;
        case schedule::OpKind::kLmHead: on().lm_head(); return true;
        case schedule::OpKind::kCrossEntropy: on().cross_entropy(); return true;
        default: return false;
    }
}

template bool run_head_operation(Rank<Fp32>&, const CurrentOperation&);
template bool run_head_operation(Rank<Fp64>&, const CurrentOperation&);
template bool run_head_operation(Rank<Bf16Precision>&, const CurrentOperation&);
template bool run_head_operation(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&);

}  // namespace auspex::exec
