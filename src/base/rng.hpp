#pragma once
/// @file Seeded random numbers whose values do not depend on the standard library (xoshiro256** seeded by splitmix64).
#include <cstdint>

namespace auspex {

class Rng {
 public:
    explicit Rng(std::uint64_t seed);
    std::uint64_t next();
    /// Uniform in [0, 1).
    double uniform();
    /// Uniform integer in [0, n). Requires n > 0.
    std::uint64_t below(std::uint64_t n);
    /// Standard normal (Box-Muller, one value a call).
    double normal();
    /// Gamma with shape a > 0, scale 1 (Marsaglia-Tsang); a Dirichlet draw is normalised gammas.
    double gamma(double shape);

 private:
    std::uint64_t state_[4];
};

}  // namespace auspex
