/// @file The rotary embedding, with a table of its angles kept from call to call.
#include <algorithm>
#include <cmath>
#include <vector>

#include "exec/kernels/call_record.hpp"

#include "exec/kernels/attention.hpp"

namespace auspex::exec {
namespace {

/// Cosines and sines of p theta^(-2i/d), [sequence, d / 2].
template <typename R>
struct Angles {
    std::size_t sequence = 0, head_size = 0;
    double theta = 0;
    std::vector<R> cosines, sines;
};

template <typename R>
const Angles<R>& angles_of(std::size_t sequence, std::size_t head_size, double theta) {
    thread_local Angles<R> kept;
    if (kept.head_size == head_size && kept.theta == theta && kept.sequence >= sequence) {
        return kept;
    }
    kept = {sequence, head_size, theta, {}, {}};
    const std::size_t half = head_size / 2;
    for (std::size_t p = 0; p < sequence; ++p) {
        for (std::size_t i = 0; i < half; ++i) {
            const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(head_size);
            const double angle = static_cast<double>(p) * std::pow(theta, exponent);
            kept.cosines.push_back(static_cast<R>(std::cos(angle)));
            kept.sines.push_back(static_cast<R>(std::sin(angle)));
        }
    }
    return kept;
}

/// Beyond the last position.
std::size_t length_of(const RowPositions& positions) {
    return positions.dealt.empty() ? positions.rows : std::ranges::max(positions.dealt) + std::size_t{1};
}

}  // namespace

template <typename V>
void rotate(std::size_t rows, const RowPositions& positions, std::size_t heads, std::size_t head_size, double theta,
            V* x, std::size_t ldx, bool inverse) {
    rotate_apart(rows, positions, heads, head_size, head_size, theta, x, ldx, inverse);
}

template <typename V>
void rotate_apart(std::size_t rows, const RowPositions& positions, std::size_t heads, std::size_t head_size,
                  std::size_t apart, double theta, V* x, std::size_t ldx, bool inverse) {
    record_call("rotate", rows, heads * head_size, head_size);
    using R = RealOf<V>;
    const Angles<R>& angles = angles_of<R>(length_of(positions), head_size, theta);
    const std::size_t half = head_size / 2;
    const R sign = inverse ? R{-1} : R{1};
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t position = positions.of(row);
        const R *const cosines = angles.cosines.data() + position * half, *const sines =
                                                                              angles.sines.data() + position * half;
        for (std::size_t head = 0; head < heads; ++head) {
            V *const first = x + row * ldx + head * apart, *const second = first + half;
            for (std::size_t i = 0; i < half; ++i) {
                const R a = real(first[i]), b = real(second[i]), sine = sign * sines[i];
                first[i] = stored<V>(a * cosines[i] - b * sine);
                second[i] = stored<V>(b * cosines[i] + a * sine);
            }
        }
    }
}

#define AUSPEX_ROTATE(V)                                                                                             \
    template void rotate(std::size_t, const RowPositions&, std::size_t, std::size_t, double, V*, std::size_t, bool); \
    template void rotate_apart(std::size_t, const RowPositions&, std::size_t, std::size_t, std::size_t, double, V*,  \
                               std::size_t, bool);
AUSPEX_ROTATE(float)
AUSPEX_ROTATE(double)
AUSPEX_ROTATE(Bf16)
#undef AUSPEX_ROTATE

}  // namespace auspex::exec
