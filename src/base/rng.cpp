/// @file xoshiro256** 1.0 (Blackman and Vigna, 2018), written from its published recurrence.
#include "base/rng.hpp"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "base/mix64.hpp"

namespace auspex {

Rng::Rng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {  // splitmix64
        word = mix64(seed);
        seed += kGoldenGamma;
    }
}

std::uint64_t Rng::next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t Rng::below(std::uint64_t n) {
    AUSPEX_CHECK(n > 0, "Rng::below needs a range that is not empty");
    // Values under this bound would make the small residues more likely.
    const std::uint64_t unfair = (0 - n) % n;
    std::uint64_t draw = next();
    while (draw < unfair) {
        draw = next();
    }
    return draw % n;
}

double Rng::normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // 1 - uniform() is never 0
    return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Rng::gamma(double shape) {
    AUSPEX_CHECK(shape > 0, "Rng::gamma needs a positive shape");
    if (shape < 1) {
        // gamma(a) = gamma(a + 1) * u^(1/a)
        const double boosted = gamma(shape + 1);
        return boosted * std::pow(1 - uniform(), 1 / shape);
    }
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = normal();
        const double v = std::pow(1 + c * x, 3);
        if (v > 0 && std::log(1 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
            return d * v;
        }
    }
}

}  // namespace auspex
