#pragma once
/// @file Whether one plan is really faster than another: both predictions lean on the same constants.
#include <vector>

#include "base/statistics/interval.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::search {

/// How much longer the other plan's step takes.
struct Lead {
    double ratio = 1;  ///< other / best
    /// About 90 %, constants drawn together: ratio * exp(± 1.645 sqrt(sum ((e_other - e_best) u)^2)), e elasticities
    /// and u relative uncertainties of the constants. Errors that both plans share do not count.
    Interval interval;
    double probability_faster = 0;  ///< of the other one: Phi(-ln ratio / that root); 1/2 of equal steps
    [[nodiscard]] bool is_within_uncertainty() const { return interval.low <= 1; }
};
[[nodiscard]] Lead lead_of(double best_s, const std::vector<predict::ConstantSensitivity>& best, double other_s,
                           const std::vector<predict::ConstantSensitivity>& other);

}  // namespace auspex::search
