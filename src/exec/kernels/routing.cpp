/// @file The router's softmax, choices and losses.
#include "exec/kernels/routing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "exec/kernels/call_record.hpp"

namespace auspex::exec {
namespace {

/// Log-sum-exp of one row.
template <typename R>
R log_sum_exp(std::size_t experts, const R* logits) {
    const R largest = *std::max_element(logits, logits + experts);
    R sum = 0;
    for (std::size_t e = 0; e < experts; ++e) {
        sum += std::exp(logits[e] - largest);
    }
    return largest + std::log(sum);
}

/// Calls visit(first row, choices by expert) for every sequence.
template <class Visit>
void for_each_sequence(std::size_t sequences, std::size_t sequence, std::size_t experts, std::size_t top_k,
                       const std::int64_t* choices, const Visit& visit) {
    std::vector<std::int64_t> counts(experts);
    for (std::size_t row = 0; row < sequences * sequence; row += sequence) {
        counts.assign(experts, 0);
        count_choices(sequence * top_k, choices + row * top_k, counts.data());
        visit(row, counts.data());
    }
}

}  // namespace

template <typename R>
void router_softmax(std::size_t rows, std::size_t experts, const R* logits, R* probabilities) {
    record_call("router_softmax", rows, experts);
    for (std::size_t row = 0; row < rows; ++row, logits += experts, probabilities += experts) {
        const R largest = *std::max_element(logits, logits + experts);
        R sum = 0;
        for (std::size_t e = 0; e < experts; ++e) {
            probabilities[e] = std::exp(logits[e] - largest);
            sum += probabilities[e];
        }
        for (std::size_t e = 0; e < experts; ++e) {
            probabilities[e] /= sum;
        }
    }
}

namespace {

/// Of one row.
template <typename R>
void choose_largest(std::size_t experts, std::size_t top_k, const R* scores, std::int64_t* choices) {
    std::size_t found = 0;
    for (std::size_t e = 0; e < experts; ++e) {
        const auto larger = [&](std::size_t i) { return scores[e] > scores[choices[i]]; };
        if (found == top_k && !larger(top_k - 1)) {
            continue;
        }
        std::size_t position = found < top_k ? found++ : top_k - 1;
        for (; position > 0 && larger(position - 1); --position) {
            choices[position] = choices[position - 1];
        }
        choices[position] = static_cast<std::int64_t>(e);
    }
}

}  // namespace

template <typename R>
void choose_experts(std::size_t rows, std::size_t experts, std::size_t top_k, const R* probabilities,
                    std::int64_t* choices, const float* bias) {
    record_call("choose_experts", rows, experts, top_k);
    if (bias != nullptr) {
        record_call("add_router_bias", 1, rows * experts);
    }
    std::vector<R> biased(bias == nullptr ? 0 : experts);
    for (std::size_t row = 0; row < rows; ++row, probabilities += experts, choices += top_k) {
        for (std::size_t e = 0; e < biased.size(); ++e) {
            biased[e] = probabilities[e] + static_cast<R>(bias[e]);
        }
        choose_largest(experts, top_k, biased.empty() ? probabilities : biased.data(), choices);
    }
}

void drop_choices(std::size_t rows, std::size_t experts, std::size_t top_k, std::size_t capacity,
                  std::int64_t* choices) {
    record_call("count_choices", rows * top_k, experts);
    std::vector<std::size_t> counts(experts);
    for (std::size_t slot = 0; slot < rows * top_k; ++slot) {
        if (++counts[static_cast<std::size_t>(choices[slot])] > capacity) {
            choices[slot] = ~choices[slot];
        }
    }
}

template <typename R>
void choice_weights(std::size_t rows, std::size_t experts, std::size_t top_k, bool normalize, const R* probabilities,
                    const std::int64_t* choices, R* weights) {
    record_call("choice_weights", rows, experts, top_k);
    for (std::size_t row = 0; row < rows; ++row, probabilities += experts, choices += top_k, weights += top_k) {
        R sum = 0;
        for (std::size_t j = 0; j < top_k; ++j) {
            weights[j] = probabilities[choices[j]];
            sum += weights[j];
        }
        for (std::size_t j = 0; normalize && j < top_k; ++j) {
            weights[j] /= sum;
        }
    }
}

template <typename R>
void choice_weights_backward(std::size_t rows, std::size_t experts, std::size_t top_k, bool normalize,
                             const R* probabilities, const std::int64_t* choices, const R* d_weights,
                             R* d_probabilities) {
    record_call("choice_weights_backward", rows, experts, top_k);
    for (std::size_t row = 0; row < rows; ++row) {
        R sum = 1, mean = 0;  // of the chosen probabilities; of the gradients, by their weights
        if (normalize) {
            sum = 0;
            for (std::size_t j = 0; j < top_k; ++j) {
                sum += probabilities[chosen(choices[j])];
                mean += choices[j] < 0 ? R{0} : probabilities[choices[j]] * d_weights[j];
            }
            mean /= sum;
        }
        for (std::size_t j = 0; j < top_k; ++j) {
            d_probabilities[chosen(choices[j])] += ((choices[j] < 0 ? R{0} : d_weights[j]) - mean) / sum;
        }
        probabilities += experts, choices += top_k, d_weights += top_k, d_probabilities += experts;
    }
}

template <typename R>
void router_softmax_backward(std::size_t rows, std::size_t experts, const R* probabilities, const R* d_probabilities,
                             R* d_logits) {
    record_call("router_softmax_backward", rows, experts);
    for (std::size_t row = 0; row < rows; ++row) {
        R mean = 0;
        for (std::size_t e = 0; e < experts; ++e) {
            mean += probabilities[e] * d_probabilities[e];
        }
        for (std::size_t e = 0; e < experts; ++e) {
            d_logits[e] = probabilities[e] * (d_probabilities[e] - mean);
        }
        probabilities += experts, d_probabilities += experts, d_logits += experts;
    }
}

template <typename R>
double router_z_sum(std::size_t rows, std::size_t experts, const R* logits) {
    record_call("router_z_sum", rows, experts);
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        const auto lse = double{log_sum_exp(experts, logits + row * experts)};
        sum += lse * lse;
    }
    return sum;
}

template <typename R>
void router_z_backward(std::size_t rows, std::size_t experts, const R* logits, double scale, R* d_logits) {
    record_call("router_z_backward", rows, experts);
    for (std::size_t row = 0; row < rows; ++row, logits += experts, d_logits += experts) {
        const R lse = log_sum_exp(experts, logits);
        const R factor = static_cast<R>(2 * scale * double{lse});
        for (std::size_t e = 0; e < experts; ++e) {
            d_logits[e] += factor * std::exp(logits[e] - lse);
        }
    }
}

void count_choices(std::size_t count, const std::int64_t* choices, std::int64_t* counts) {
    record_call("add_choice_counts", count);
    for (std::size_t i = 0; i < count; ++i) {
        ++counts[static_cast<std::size_t>(chosen(choices[i]))];
    }
}

void count_choices(std::size_t count, std::size_t experts, const std::int64_t* choices, float* counts) {
    record_call("count_choices", count, experts);
    for (std::size_t i = 0; i < count; ++i) {
        counts[static_cast<std::size_t>(choices[i])] += 1;
    }
}

template <typename R>
double counted_probability(std::size_t rows, std::size_t experts, const std::int64_t* counts, const R* probabilities) {
    record_call("counted_probability", rows, experts);
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row, probabilities += experts) {
        for (std::size_t e = 0; e < experts; ++e) {
            sum += static_cast<double>(counts[e]) * double{probabilities[e]};
        }
    }
    return sum;
}

template <typename R>
void counted_probability_backward(std::size_t rows, std::size_t experts, const std::int64_t* counts, double factor,
                                  R* d_probabilities) {
    record_call("counted_probability_backward", rows, experts);
    for (std::size_t row = 0; row < rows; ++row, d_probabilities += experts) {
        for (std::size_t e = 0; e < experts; ++e) {
            d_probabilities[e] += static_cast<R>(factor * static_cast<double>(counts[e]));
        }
    }
}

template <typename R>
double balance_sum(std::size_t sequences, std::size_t sequence, std::size_t experts, std::size_t top_k,
                   const R* probabilities, const std::int64_t* choices) {
    const RecordedScope scope("balance_sum", sequences * sequence, experts, top_k);
    double sum = 0;
    for_each_sequence(sequences, sequence, experts, top_k, choices, [&](std::size_t row, const std::int64_t* counts) {
        sum += counted_probability(sequence, experts, counts, probabilities + row * experts);
    });
    const auto tokens = static_cast<double>(sequence);
    return static_cast<double>(experts) * sum / (tokens * tokens);
}

template <typename R>
void balance_backward(std::size_t sequences, std::size_t sequence, std::size_t experts, std::size_t top_k,
                      const std::int64_t* choices, double scale, R* d_probabilities) {
    const RecordedScope scope("balance_backward", sequences * sequence, experts, top_k);
    const auto tokens = static_cast<double>(sequence);
    const double factor = scale * static_cast<double>(experts) / (tokens * tokens);
    for_each_sequence(sequences, sequence, experts, top_k, choices, [&](std::size_t row, const std::int64_t* counts) {
        counted_probability_backward(sequence, experts, counts, factor, d_probabilities + row * experts);
    });
}

template <typename R>
void count_by_sequence(const SequenceRange& range, std::size_t top_k, const std::int64_t* choices, R* counts) {
    record_call("count_choices", range.rows * top_k, range.experts);
    for (std::size_t row = 0; row < range.rows; ++row) {
        R* const of_sequence = counts + range.sequence_of(row) * range.experts;
        for (std::size_t j = 0; j < top_k; ++j) {
            of_sequence[chosen(choices[row * top_k + j])] += 1;
        }
    }
}

template <typename R>
double balance_sum(const SequenceRange& range, const R* probabilities, const R* counts) {
    record_call("balance_sum", range.rows, range.experts);
    double sum = 0;
    for (std::size_t row = 0; row < range.rows; ++row, probabilities += range.experts) {
        const R* const of_sequence = counts + range.sequence_of(row) * range.experts;
        for (std::size_t e = 0; e < range.experts; ++e) {
            sum += double{of_sequence[e]} * double{probabilities[e]};
        }
    }
    const auto tokens = static_cast<double>(range.sequence);
    return static_cast<double>(range.experts) * sum / (tokens * tokens);
}

template <typename R>
void balance_backward(const SequenceRange& range, const R* counts, double scale, R* d_probabilities) {
    record_call("balance_backward", range.rows, range.experts);
    const auto tokens = static_cast<double>(range.sequence);
    const double factor = scale * static_cast<double>(range.experts) / (tokens * tokens);
    for (std::size_t row = 0; row < range.rows; ++row, d_probabilities += range.experts) {
        const R* const of_sequence = counts + range.sequence_of(row) * range.experts;
        for (std::size_t e = 0; e < range.experts; ++e) {
            d_probabilities[e] += static_cast<R>(factor * double{of_sequence[e]});
        }
    }
}

#define AUSPEX_INSTANTIATE(R)                                                                                          \
    template void router_softmax<R>(std::size_t, std::size_t, const R*, R*);                                           \
    template void choose_experts<R>(std::size_t, std::size_t, std::size_t, const R*, std::int64_t*, const float*);     \
    template void choice_weights<R>(std::size_t, std::size_t, std::size_t, bool, const R*, const std::int64_t*, R*);   \
    template void choice_weights_backward<R>(std::size_t, std::size_t, std::size_t, bool, const R*,                    \
                                             const std::int64_t*, const R*, R*);                                       \
    template void router_softmax_backward<R>(std::size_t, std::size_t, const R*, const R*, R*);                        \
    template double router_z_sum<R>(std::size_t, std::size_t, const R*);                                               \
    template void router_z_backward<R>(std::size_t, std::size_t, const R*, double, R*);                                \
    template double counted_probability<R>(std::size_t, std::size_t, const std::int64_t*, const R*);                   \
    template void counted_probability_backward<R>(std::size_t, std::size_t, const std::int64_t*, double, R*);          \
    template double balance_sum<R>(std::size_t, std::size_t, std::size_t, std::size_t, const R*, const std::int64_t*); \
    template void balance_backward<R>(std::size_t, std::size_t, std::size_t, std::size_t, const std::int64_t*, double, \
                                      R*);                                                                             \
    template void count_by_sequence<R>(const SequenceRange&, std::size_t, const std::int64_t*, R*);                    \
    template double balance_sum<R>(const SequenceRange&, const R*, const R*);                                          \
    template void balance_backward<R>(const SequenceRange&, const R*, double, R*);
AUSPEX_INSTANTIATE(float)
AUSPEX_INSTANTIATE(double)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
