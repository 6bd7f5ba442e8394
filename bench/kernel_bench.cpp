/// @file Matrix products of the seam against Eigen's on one thread, taken in turns so that the ratio holds on a busy
/// machine, and attention. "TN" is the product of a weight gradient, "NT" of a forward pass, "NN" of an input gradient.
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/rng.hpp"
#include "exec/kernels/attention.hpp"
#include "exec/kernels/gemm.hpp"

namespace auspex {
namespace {

template <typename V>
std::vector<V> random_values(std::size_t count, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<V> values(count);
    for (V& value : values) {
        value = exec::stored<V>(rng.normal());
    }
    return values;
}

template <typename Work>
double seconds_of(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Operands {
    std::size_t m, n, k;
    exec::Transpose ta, tb;
    std::vector<float> a = random_values<float>(m * k, 1), b = random_values<float>(k * n, 2);
};

void by_seam(const Operands& x, std::vector<float>& c) {
    const bool ta = x.ta == exec::Transpose::kYes, tb = x.tb == exec::Transpose::kYes;
    gemm(x.ta, x.tb, x.m, x.n, x.k, x.a.data(), ta ? x.m : x.k, x.b.data(), tb ? x.k : x.n, c.data(), x.n, false);
}

void by_eigen(const Operands& x, std::vector<float>& c) {
    const auto m = static_cast<Eigen::Index>(x.m), n = static_cast<Eigen::Index>(x.n),
               k = static_cast<Eigen::Index>(x.k);
    Eigen::Map<Matrix> result(c.data(), m, n);
    if (x.ta == exec::Transpose::kYes) {
        result.noalias() =
            Eigen::Map<const Matrix>(x.a.data(), k, m).transpose() * Eigen::Map<const Matrix>(x.b.data(), k, n);
    } else if (x.tb == exec::Transpose::kYes) {
        result.noalias() =
            Eigen::Map<const Matrix>(x.a.data(), m, k) * Eigen::Map<const Matrix>(x.b.data(), n, k).transpose();
    } else {
        result.noalias() = Eigen::Map<const Matrix>(x.a.data(), m, k) * Eigen::Map<const Matrix>(x.b.data(), k, n);
    }
}

/// The largest difference of two results over sqrt(k).
double difference(const std::vector<float>& a, const std::vector<float>& b, std::size_t k) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
    }
    return largest / std::sqrt(static_cast<double>(k));
}

/// Counters are of the fastest run of each.
void product(benchmark::State& state, exec::Transpose ta, exec::Transpose tb) {
    const auto size = [&state](std::size_t i) { return static_cast<std::size_t>(state.range(i)); };
    const Operands operands{size(0), size(1), size(2), ta, tb};
    std::vector<float> ours(operands.m * operands.n), eigens = ours;
    by_seam(operands, ours);
    by_eigen(operands, eigens);
    if (difference(ours, eigens, operands.k) > 1e-4) {
        state.SkipWithError("the two products differ");
    }
    double seam = std::numeric_limits<double>::infinity(), eigen = seam;
    for (auto _ : state) {
        const double took = seconds_of([&] { by_seam(operands, ours); });
        state.SetIterationTime(took);
        seam = std::min(seam, took);
        eigen = std::min(eigen, seconds_of([&] { by_eigen(operands, eigens); }));
    }
    const double giga_flop = 2e-9 * static_cast<double>(operands.m * operands.n * operands.k);
    state.counters["seam_GF/s"] = giga_flop / seam;
    state.counters["eigen_GF/s"] = giga_flop / eigen;
    state.counters["eigen/seam"] = eigen / seam;
}

void shapes(benchmark::internal::Benchmark* bench) {
    bench->Args({64, 64, 64})->Args({64, 256, 64})->Args({256, 128, 64})->Args({512, 256, 64})->Args({512, 64, 256});
    bench->Args({256, 512, 256})->Args({1024, 256, 1024})->UseManualTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(product, NT, exec::Transpose::kNo, exec::Transpose::kYes)->Apply(shapes);
BENCHMARK_CAPTURE(product, NN, exec::Transpose::kNo, exec::Transpose::kNo)->Apply(shapes);
BENCHMARK_CAPTURE(product, TN, exec::Transpose::kYes, exec::Transpose::kNo)->Apply(shapes);

/// One sequence of 256 tokens, 4 heads of 64.
template <typename V>
struct AttentionCase {
    static constexpr std::size_t kTokens = 256, kHeads = 4, kWidth = kHeads * 64;
    exec::AttentionSizes sizes{1, kTokens, kHeads, kHeads, 64, 3 * kWidth, 3 * kWidth, 3 * kWidth};
    std::vector<V> qkv = random_values<V>(kTokens * 3 * kWidth, 1), d_qkv = qkv,
                   output = random_values<V>(kTokens * kWidth, 2), d_output = output;
    std::vector<exec::RealOf<V>> lse = std::vector<exec::RealOf<V>>(kTokens * kHeads), delta = lse;

    void forward() {
        exec::attention_forward(sizes, qkv.data(), &qkv[kWidth], &qkv[2 * kWidth], output.data(), lse.data());
    }
    void backward() {
        exec::attention_backward(sizes, qkv.data(), &qkv[kWidth], &qkv[2 * kWidth], output.data(), lse.data(),
                                 d_output.data(), delta.data(), d_qkv.data(), &d_qkv[kWidth], &d_qkv[2 * kWidth]);
    }
};

enum class Pass { kForward, kBackward };
template <typename V, Pass pass>
void attention(benchmark::State& state) {
    AttentionCase<V> c;
    c.forward();
    for (auto _ : state) {
        if constexpr (pass == Pass::kForward) {
            c.forward();
        } else {
            c.backward();
        }
    }
}
BENCHMARK_TEMPLATE(attention, float, Pass::kForward)->Unit(benchmark::kMicrosecond);
BENCHMARK_TEMPLATE(attention, float, Pass::kBackward)->Unit(benchmark::kMicrosecond);
BENCHMARK_TEMPLATE(attention, exec::Bf16, Pass::kForward)->Unit(benchmark::kMicrosecond);
BENCHMARK_TEMPLATE(attention, exec::Bf16, Pass::kBackward)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace auspex
