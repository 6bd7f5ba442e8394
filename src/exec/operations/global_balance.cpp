/// @file The auxiliary loss over all MoE layers: one pass counts choices, a second one takes the probabilities.
#include "exec/operations/global_balance.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "exec/kernels/routing.hpp"
#include "exec/operations/sublayer.hpp"

namespace auspex::exec {
namespace {

/// One sequence of a micro-batch in the buffer of logits [layers, t, N], read row by row as the router's kernels do.
template <class P>
class Sequence {
 public:
    using V = typename P::Value;
    using R = typename P::Real;

    Sequence(const Rank<P>& rank, int micro_batch, std::size_t index, std::span<const V> logits)
        : rank_(rank),
          tokens_(routed_tokens_of(rank, micro_batch)),
          index_(index),
          logits_(logits),
          layers_(logits.size() / (rank.shapes.t * rank.shapes.experts)) {
        AUSPEX_CHECK(layers_ * rank.shapes.t * rank.shapes.experts == logits.size(), "the buffer holds whole layers");
    }

    /// In all layers.
    [[nodiscard]] double tokens() const { return static_cast<double>(layers_ * rank_.shapes.sequence); }

    /// Calls visit(the row's first element in the buffer, layer, position, probabilities) for every token and layer.
    template <class Visit>
    void for_each_row(const Visit& visit) const {
        const RankShapes& s = rank_.shapes;
        std::vector<R> row(s.experts), probabilities(s.experts);
        for (std::size_t layer = 0; layer < layers_; ++layer) {
            for (std::size_t position = 0; position < s.sequence; ++position) {
                const std::size_t first = (layer * s.t + index_ * s.sequence + position) * s.experts;
                std::ranges::transform(logits_.subspan(first, s.experts), row.begin(), [](V v) { return real(v); });
                router_softmax(1, s.experts, row.data(), probabilities.data());
                visit(first, layer, position, probabilities.data());
            }
        }
    }

    /// Choices of all tokens and layers, by expert.
    [[nodiscard]] std::vector<std::int64_t> choice_counts() const {
        const RankShapes& s = rank_.shapes;
        std::vector<std::int64_t> counts(s.experts, 0), choices(s.top_k);
        for_each_row([&](std::size_t, std::size_t layer, std::size_t position, const R* probabilities) {
            choose(layer, position, probabilities, choices);
            count_choices(s.top_k, choices.data(), counts.data());
        });
        return counts;
    }

 private:
    void choose(std::size_t layer, std::size_t position, const R* probabilities,
                std::vector<std::int64_t>& choices) const {
        const RankShapes& s = rank_.shapes;
        if (rank_.routing->mode == RoutingMode::kLearned) {
            choose_experts(1, s.experts, s.top_k, probabilities, choices.data());
            return;
        }
        const std::int64_t token[] = {tokens_[index_ * s.sequence + position]};
        forced_choices(*rank_.routing, rank_.step, static_cast<int>(layer), token, static_cast<int>(s.experts),
                       static_cast<int>(s.top_k), choices);
    }

    const Rank<P>& rank_;
    std::vector<std::int64_t> tokens_;  ///< of the micro-batch
    std::size_t index_;                 ///< within the micro-batch
    std::span<const V> logits_;
    std::size_t layers_;
};

}  // namespace

int moe_layers_before(const models::Workload& workload, int layer) {
    return workload.num_experts > 0 ? std::max(0, layer - workload.first_dense_layers) : 0;
}

template <class P>
double global_balance_sum(const Rank<P>& rank, int micro_batch, std::span<const typename P::Value> logits) {
    const std::size_t experts = rank.shapes.experts;
    double sum = 0;
    for (std::size_t index = 0; index < rank.shapes.sequences; ++index) {
        const Sequence<P> sequence(rank, micro_batch, index, logits);
        const std::vector<std::int64_t> counts = sequence.choice_counts();
        double of_sequence = 0;
        sequence.for_each_row([&](std::size_t, std::size_t, std::size_t, const typename P::Real* probabilities) {
            of_sequence += counted_probability(1, experts, counts.data(), probabilities);
        });
        sum += static_cast<double>(experts) * of_sequence / (sequence.tokens() * sequence.tokens());
    }
    return sum;
}

template <class P>
void global_balance_backward(const Rank<P>& rank, int micro_batch, double scale, std::span<typename P::Value> logits) {
    using R = typename P::Real;
    const std::size_t experts = rank.shapes.experts;
    std::vector<R> gradient(experts);
    for (std::size_t index = 0; index < rank.shapes.sequences; ++index) {
        const Sequence<P> sequence(rank, micro_batch, index, logits);
        const std::vector<std::int64_t> counts = sequence.choice_counts();
        const double factor = scale * static_cast<double>(experts) / (sequence.tokens() * sequence.tokens());
        sequence.for_each_row([&](std::size_t first, std::size_t, std::size_t, const R* probabilities) {
            std::ranges::fill(gradient, R{0});
            counted_probability_backward(1, experts, counts.data(), factor, gradient.data());
            router_softmax_backward(1, experts, probabilities, gradient.data(), gradient.data());
            std::ranges::transform(gradient, logits.begin() + static_cast<std::ptrdiff_t>(first),
                                   [](R g) { return stored<typename P::Value>(g); });
        });
    }
}

template double global_balance_sum(const Rank<Fp32>&, int, std::span<const float>);
template double global_balance_sum(const Rank<Fp64>&, int, std::span<const double>);
template double global_balance_sum(const Rank<Bf16Precision>&, int, std::span<const Bf16>);
template double global_balance_sum(const Rank<Bf16WithFp32Gradients>&, int, std::span<const Bf16>);
template void global_balance_backward(const Rank<Fp32>&, int, double, std::span<float>);
template void global_balance_backward(const Rank<Fp64>&, int, double, std::span<double>);
template void global_balance_backward(const Rank<Bf16Precision>&, int, double, std::span<Bf16>);
template void global_balance_backward(const Rank<Bf16WithFp32Gradients>&, int, double, std::span<Bf16>);

}  // namespace auspex::exec
