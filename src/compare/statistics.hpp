#pragma once
/// @file How far two rankings of the same cases agree.
#include <span>
#include <vector>

#include "base/quantiles.hpp"

namespace auspex {

/// Kendall's tau over pairs of cases whose measured values differ by more than `least_ratio`(ln) = |ln(a_i / a_j)|:
/// (concordant - discordant) / pairs; ties of b count as half. 1 where no pair is that far apart.
struct RankAgreement {
    double tau = 1;
    int pairs = 0;
};
[[nodiscard]] RankAgreement kendall_tau(std::span<const double> a, std::span<const double> b, double least_ln_ratio);

/// Measured time of the case with the smallest prediction over the smallest measured time, minus 1.
[[nodiscard]] double regret_of_predicted_best(std::span<const double> measured, std::span<const double> predicted);

}  // namespace auspex
