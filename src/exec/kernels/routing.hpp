#pragma once
/// @file The router's softmax, its choices, its losses and their gradients.
#include <cstddef>
#include <cstdint>

namespace auspex::exec {

/// probabilities[rows, experts] = softmax(logits).
template <typename R>
void router_softmax(std::size_t rows, std::size_t experts, const R* logits, R* probabilities);
/// The top_k largest of each row, largest first, ties to the lower number; of rows with NaN any that exist. With a
/// `bias` [experts] the largest of probability + bias.
template <typename R>
void choose_experts(std::size_t rows, std::size_t experts, std::size_t top_k, const R* probabilities,
                    std::int64_t* choices, const float* bias = nullptr);
/// A choice that was dropped keeps its expert's number as its complement: a negative number, which no rank's experts
/// have, and which losses of balance are made of.
[[nodiscard]] inline std::int64_t chosen(std::int64_t choice) { return choice < 0 ? ~choice : choice; }
/// Of the choices [rows, top_k], in order, those of an expert behind its first `capacity` are dropped.
void drop_choices(std::size_t rows, std::size_t experts, std::size_t top_k, std::size_t capacity,
                  std::int64_t* choices);

/// weights[row, j] = probabilities[row, choices[row, j]], divided by the row's sum with `normalize`.
template <typename R>
void choice_weights(std::size_t rows, std::size_t experts, std::size_t top_k, bool normalize, const R* probabilities,
                    const std::int64_t* choices, R* weights);
/// d_probabilities[rows, experts] += gradient through choice_weights; dropped choices have no d_weights.
template <typename R>
void choice_weights_backward(std::size_t rows, std::size_t experts, std::size_t top_k, bool normalize,
                             const R* probabilities, const std::int64_t* choices, const R* d_weights,
                             R* d_probabilities);
/// d_logits = probabilities * (d_probabilities - sum(probabilities * d_probabilities)); may be in place.
template <typename R>
void router_softmax_backward(std::size_t rows, std::size_t experts, const R* probabilities, const R* d_probabilities,
                             R* d_logits);

/// Sum over rows of (log-sum-exp of the logits)^2.
template <typename R>
[[nodiscard]] double router_z_sum(std::size_t rows, std::size_t experts, const R* logits);
/// d_logits += scale * 2 * lse * softmax.
template <typename R>
void router_z_backward(std::size_t rows, std::size_t experts, const R* logits, double scale, R* d_logits);

/// counts[expert] += the choices that fell on it.
void count_choices(std::size_t count, const std::int64_t* choices, std::int64_t* counts);
/// The same as fp32, which ranks add up; of `experts` in all.
void count_choices(std::size_t count, std::size_t experts, const std::int64_t* choices, float* counts);
/// Sum over rows and experts of counts[e] * probabilities[row, e].
template <typename R>
[[nodiscard]] double counted_probability(std::size_t rows, std::size_t experts, const std::int64_t* counts,
                                         const R* probabilities);
/// d_probabilities[row, e] += factor * counts[e].
template <typename R>
void counted_probability_backward(std::size_t rows, std::size_t experts, const std::int64_t* counts, double factor,
                                  R* d_probabilities);

// Load balancing of one sequence (S tokens): N sum_e f_e P_e, where f_e = choices of e / S (they sum to top_k) and P_e
// = mean probability of e. Only P has a gradient. Splitting a batch between its sequences does not change the sum.

/// Sum over sequences of the loss.
template <typename R>
[[nodiscard]] double balance_sum(std::size_t sequences, std::size_t sequence, std::size_t experts, std::size_t top_k,
                                 const R* probabilities, const std::int64_t* choices);
/// d_probabilities += scale * its gradient.
template <typename R>
void balance_backward(std::size_t sequences, std::size_t sequence, std::size_t experts, std::size_t top_k,
                      const std::int64_t* choices, double scale, R* d_probabilities);

// The same of parts of sequences, with the choices of whole ones counted.

/// Rows [0, rows) of a micro-batch's, from first_row on, in which each sequence has local_sequence rows and `sequence`
/// tokens in all.
struct SequenceRange {
    std::size_t rows, first_row, local_sequence, sequence, experts;
    [[nodiscard]] std::size_t sequence_of(std::size_t row) const { return (first_row + row) / local_sequence; }
};
/// counts[sequence, experts] += the rows' choices.
template <typename R>
void count_by_sequence(const SequenceRange& range, std::size_t top_k, const std::int64_t* choices, R* counts);
/// The rows' part of the sum over sequences of the loss.
template <typename R>
[[nodiscard]] double balance_sum(const SequenceRange& range, const R* probabilities, const R* counts);
/// d_probabilities += scale * its gradient.
template <typename R>
void balance_backward(const SequenceRange& range, const R* counts, double scale, R* d_probabilities);

}  // namespace auspex::exec
