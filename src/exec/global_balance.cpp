/// @file The auxiliary loss over all MoE layers: choices counted and probabilities added up sequence by sequence.
#include "exec/global_balance.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "exec/half.hpp"

namespace auspex {
namespace {

/// One sequence of a micro-batch in the buffer of logits.
template <class P>
struct Sequence {
    const Rank<P>& rank;
    int micro_batch;
    std::size_t index;  ///< within the micro-batch
    std::size_t layers;

    /// First element of a token's row.
    [[nodiscard]] std::size_t row(std::size_t layer, std::size_t position) const {
        const RankShapes& s = rank.shapes;
        return (layer * s.t + index * s.sequence + position) * s.experts;
    }
    [[nodiscard]] double tokens() const { return static_cast<double>(layers * rank.shapes.sequence); }
};

template <typename V>
void softmax_of_row(std::span<const V> logits, std::vector<double>& probabilities) {
    double maximum = -INFINITY, sum = 0;
    for (const V logit : logits) {
        maximum = std::max(maximum, static_cast<double>(real(logit)));
    }
    for (std::size_t e = 0; e < logits.size(); ++e) {
        probabilities[e] = std::exp(static_cast<double>(real(logits[e])) - maximum);
        sum += probabilities[e];
    }
    for (double& probability : probabilities) {
        probability /= sum;
    }
}

/// Choices of a sequence in one layer, [S, top_k].
template <class P>
std::vector<std::int64_t> choices_of(const Sequence<P>& sequence, std::size_t layer,
                                     std::span<const typename P::Value> logits) {
    const RankShapes& s = sequence.rank.shapes;
    std::vector<std::int64_t> choices(s.sequence * s.top_k);
    if (sequence.rank.routing->mode != RoutingMode::kLearned) {
        const std::int64_t first = first_token_of(sequence.rank, sequence.micro_batch) +
                                   static_cast<std::int64_t>(sequence.index * s.sequence);
        dictated_choices(*sequence.rank.routing, sequence.rank.step, static_cast<int>(layer), first,
                         static_cast<int>(s.experts), static_cast<int>(s.top_k), choices);
        return choices;
    }
    std::vector<std::int64_t> order(s.experts);
    for (std::size_t position = 0; position < s.sequence; ++position) {
        const auto row = logits.subspan(sequence.row(layer, position), s.experts);
        const auto larger = [&](std::int64_t a, std::int64_t b) {
            const auto logit_a = real(row[static_cast<std::size_t>(a)]),
                       logit_b = real(row[static_cast<std::size_t>(b)]);
            return logit_a != logit_b ? logit_a > logit_b : a < b;
        };
        for (std::size_t e = 0; e < s.experts; ++e) {
            order[e] = static_cast<std::int64_t>(e);
        }
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(s.top_k), order.end(), larger);
        std::copy_n(order.begin(), s.top_k, choices.begin() + static_cast<std::ptrdiff_t>(position * s.top_k));
    }
    return choices;
}

/// f of a sequence.
template <class P>
std::vector<double> shares_of(const Sequence<P>& sequence, std::span<const typename P::Value> logits) {
    std::vector<double> shares(sequence.rank.shapes.experts, 0.0);
    for (std::size_t layer = 0; layer < sequence.layers; ++layer) {
        for (const std::int64_t expert : choices_of(sequence, layer, logits)) {
            shares[static_cast<std::size_t>(expert)] += 1 / sequence.tokens();
        }
    }
    return shares;
}

/// Calls visit(first element of the row, its probabilities) for every token of the sequence in every layer.
template <class P, class Visit>
void for_each_row(const Sequence<P>& sequence, std::span<const typename P::Value> logits, Visit&& visit) {
    std::vector<double> probabilities(sequence.rank.shapes.experts);
    for (std::size_t layer = 0; layer < sequence.layers; ++layer) {
        for (std::size_t position = 0; position < sequence.rank.shapes.sequence; ++position) {
            const std::size_t row = sequence.row(layer, position);
            softmax_of_row(logits.subspan(row, probabilities.size()), probabilities);
            visit(row, probabilities);
        }
    }
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

template <class P>
std::size_t layers_in(const Rank<P>& rank, std::size_t elements) {
    const std::size_t layer = rank.shapes.t * rank.shapes.experts;
    AUSPEX_CHECK(elements % layer == 0, "the buffer holds whole layers");
    return elements / layer;
}

}  // namespace

int moe_layers_before(const Workload& workload, int layer) {
    return workload.num_experts > 0 ? std::max(0, layer - workload.first_dense_layers) : 0;
}

template <class P>
double global_balance_sum(const Rank<P>& rank, int micro_batch, std::span<const typename P::Value> logits) {
    const std::size_t layers = layers_in(rank, logits.size());
    double sum = 0;
    for (std::size_t index = 0; index < rank.shapes.sequences; ++index) {
        const Sequence<P> sequence{rank, micro_batch, index, layers};
        const std::vector<double> shares = shares_of(sequence, logits);
        double of_sequence = 0;
        for_each_row(sequence, logits, [&](std::size_t, const std::vector<double>& probabilities) {
            of_sequence += dot(shares, probabilities);
        });
        sum += static_cast<double>(rank.shapes.experts) * of_sequence / sequence.tokens();
    }
    return sum;
}

template <class P>
void global_balance_backward(const Rank<P>& rank, int micro_batch, double scale, std::span<typename P::Value> logits) {
    const std::size_t layers = layers_in(rank, logits.size());
    for (std::size_t index = 0; index < rank.shapes.sequences; ++index) {
        const Sequence<P> sequence{rank, micro_batch, index, layers};
        const std::vector<double> shares = shares_of<P>(sequence, logits);
        const double each = scale * static_cast<double>(rank.shapes.experts) / sequence.tokens();
        for_each_row<P>(sequence, logits, [&](std::size_t row, const std::vector<double>& probabilities) {
            const double mean = dot(shares, probabilities);
            for (std::size_t e = 0; e < probabilities.size(); ++e) {
                logits[row + e] = stored<typename P::Value>(each * probabilities[e] * (shares[e] - mean));
            }
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

}  // namespace auspex
