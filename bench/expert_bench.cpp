/// @file Forward and backward pass of the experts of one rank, from choices to sums: loop over experts, grouped, fused.
/// In each iteration the three run in turn, so that whatever else the machine does meets all of them; counters are
/// medians over iterations of this thread's processor time, in milliseconds, and of its ratios. Checks first that the
/// three agree.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <vector>

#include "base/rng.hpp"
#include "exec/kernels/experts.hpp"
#include "exec/kernels/gemm.hpp"

namespace auspex {
namespace {

struct Sizes {
    std::size_t tokens = 0, experts = 0, top_k = 0, hidden = 0, inner = 0;
};

std::vector<float> random_values(std::size_t count, Rng& rng) {
    std::vector<float> values(count);
    std::ranges::generate(values, [&] { return static_cast<float>(rng.uniform() - 0.5); });
    return values;
}

/// All tensors of the block, made once.
class ExpertBlock {
 public:
    explicit ExpertBlock(const Sizes& sizes)
        : s_(sizes),
          slots_(s_.tokens * s_.top_k),
          x_(random_values(s_.tokens * s_.hidden, rng_)),
          dy_(random_values(s_.tokens * s_.hidden, rng_)),
          weights_(random_values(slots_, rng_)),
          parameters_(random_values(s_.experts * stride(), rng_)),
          mask_(slots_ * s_.experts),
          offsets_(s_.experts + 1),
          row_slots_(slots_),
          y(x_.size()),
          dx(x_.size()),
          d_weights(slots_),
          gradients(parameters_.size()) {
        for (auto* rows : {&permuted_, &outputs_, &d_rows_, &d_permuted_}) {
            rows->resize(slots_ * s_.hidden);
        }
        for (auto* rows : {&product_, &d_product_}) {
            rows->resize(slots_ * s_.inner);
        }
        for (auto* rows : {&gate_up_, &d_gate_up_}) {
            rows->resize(2 * slots_ * s_.inner);
        }
        one_expert_.resize(x_.size());
        choose();
    }

    void run(models::ExpertKernels kernels) {
        index(kernels);
        const exec::Assignment rows{s_.tokens,       s_.top_k,         0, s_.experts, choices_.data(),
                                    offsets_.data(), row_slots_.data()};
        const exec::ExpertShape shape{s_.experts, s_.hidden, s_.inner, stride(), offsets_.data()};
        expert_forward<float>(kernels, shape, parameters_.data(),
                              {x_.data(), rows.tokens_of_rows(), permuted_.data(), gate_up_.data(), product_.data(),
                               outputs_.data(), nullptr});
        sum_rows<float, float>(kernels, rows, s_.hidden, outputs_.data(), weights_.data(), y.data());
        backward(kernels, rows, shape);
        expert_weight_gradients<float, float>(kernels, shape, permuted_.data(), product_.data(), d_rows_.data(),
                                              d_gate_up_.data(), gradients.data());
    }
    void clear_gradients() { std::ranges::fill(gradients, 0.0F); }

 private:
    [[nodiscard]] std::size_t stride() const { return 3 * s_.inner * s_.hidden; }

    /// top_k different experts a token, by chance.
    void choose() {
        std::vector<std::int64_t> order(s_.experts);
        for (std::size_t e = 0; e < s_.experts; ++e) {
            order[e] = static_cast<std::int64_t>(e);
        }
        for (std::size_t token = 0; token < s_.tokens; ++token) {
            for (std::size_t j = 0; j < s_.top_k; ++j) {
                const auto drawn = static_cast<std::size_t>(rng_.uniform() * static_cast<double>(s_.experts - j));
                std::swap(order[j], order[j + drawn]);
                choices_.push_back(order[j]);
            }
        }
    }

    void index(models::ExpertKernels kernels) {
        exec::count_choices(slots_, choices_.data(), 0, s_.experts, offsets_.data());
        if (kernels != models::ExpertKernels::kLoop) {
            return exec::sort_slots(slots_, choices_.data(), 0, s_.experts, offsets_.data(), row_slots_.data());
        }
        exec::one_hot_mask(s_.tokens, s_.top_k, s_.experts, choices_.data(), mask_.data());
        for (std::size_t e = 0; e < s_.experts; ++e) {
            exec::find_in_mask(s_.tokens, s_.top_k, s_.experts, e, mask_.data(), row_slots_.data() + offsets_[e]);
        }
    }

    void backward(models::ExpertKernels kernels, const exec::Assignment& rows, const exec::ExpertShape& shape) {
        exec::ExpertBackward<float> products;
        products.gate_up = gate_up_.data(), products.d_rows = d_rows_.data(), products.d_product = d_product_.data();
        products.d_gate_up = d_gate_up_.data(), products.d_permuted = d_permuted_.data();
        if (kernels == models::ExpertKernels::kLoop) {
            return loop_backward<float, float>(
                shape, rows, parameters_.data(), products,
                {dy_.data(), outputs_.data(), weights_.data(), d_weights.data(), one_expert_.data(), dx.data()});
        }
        sum_rows_backward<float, float>(kernels, rows, rows.rows(), s_.hidden, dy_.data(), outputs_.data(),
                                        weights_.data(), d_rows_.data(), d_weights.data());
        products.assignment = &rows, products.d_tokens = dx.data();
        expert_backward<float>(kernels, shape, parameters_.data(), products);
    }

    Sizes s_;
    Rng rng_{1};
    std::size_t slots_;
    std::vector<float> x_, dy_, weights_, parameters_;
    std::vector<std::int64_t> choices_, mask_, offsets_;
    std::vector<std::int32_t> row_slots_;
    std::vector<float> permuted_, gate_up_, product_, outputs_, d_rows_, d_product_, d_gate_up_, d_permuted_,
        one_expert_;

 public:
    std::vector<float> y, dx, d_weights, gradients;
};

constexpr std::array kWays{models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped,
                           models::ExpertKernels::kFused};

/// Largest difference over largest value.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(double{a[i]}));
        apart = std::max(apart, std::abs(double{a[i]} - double{b[i]}));
    }
    return apart / largest;
}

void check_that_all_agree(ExpertBlock& block) {
    std::array<std::array<std::vector<float>, 4>, kWays.size()> results;
    for (std::size_t way = 0; way < kWays.size(); ++way) {
        block.clear_gradients();
        block.run(kWays[way]);
        results[way] = {block.y, block.dx, block.d_weights, block.gradients};
        for (std::size_t part = 0; part < results[way].size(); ++part) {
            if (!(difference(results[0][part], results[way][part]) < 1e-4)) {
                std::cerr << "the " << to_string(kWays[way]) << " kernels differ from the loop\n";
                std::exit(1);
            }
        }
    }
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::vector<double> ratios(const std::vector<double>& above, const std::vector<double>& below) {
    std::vector<double> result(above.size());
    std::ranges::transform(above, below, result.begin(), std::divides<>());
    return result;
}

/// Of this thread, in seconds.
double processor_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Arguments: experts, hidden size, expert size; 2048 tokens that choose 8 each.
void expert_block(benchmark::State& state) {
    ExpertBlock block(
        {2048, 64, 8, static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1))});
    check_that_all_agree(block);
    std::array<std::vector<double>, kWays.size()> times;
    for (auto _ : state) {
        for (std::size_t way = 0; way < kWays.size(); ++way) {
            const double start = processor_time();
            block.run(kWays[way]);
            times[way].push_back(processor_time() - start);
        }
    }
    state.counters["loop_ms"] = 1e3 * median(times[0]);
    state.counters["grouped_ms"] = 1e3 * median(times[1]);
    state.counters["fused_ms"] = 1e3 * median(times[2]);
    state.counters["loop/fused"] = median(ratios(times[0], times[2]));
    state.counters["grouped/fused"] = median(ratios(times[1], times[2]));
}
BENCHMARK(expert_block)->Args({64, 256, 128})->Args({64, 128, 64})->Unit(benchmark::kMillisecond)->MinTime(2.0);

}  // namespace
}  // namespace auspex
