#pragma once
/// @file Max-min fair rates over links, by progressive filling: a pure solver.
#include <cstdint>
#include <span>
#include <vector>

namespace auspex::network {

/// What one unit of a class's rate puts on a link.
struct LinkLoad {
    std::uint32_t link;
    double load;
};

/// Flows that advance together: the flows of one round of one group (or of all sibling groups, where symmetry makes
/// them equal). Each has the rate r of the class; the class loads link l with r * load.
using LoadList = std::span<const LinkLoad>;

/// Rates, and what has flowed at them, are right to this part of themselves.
inline constexpr double kRateRounding = 1e-9;

/// True if the demand on a link is above its capacity by more than rounding: only then can it slow a flow.
[[nodiscard]] constexpr bool is_contended(double wanted, double capacity) {
    return wanted > capacity * (1 + kRateRounding);
}

/// Rates r >= 0 of each class: the largest r, lexicographically from the smallest, with sum over classes of load * r
/// <= capacity on every link.
///   progressive filling: raise all rates at the same pace; when a link is full freeze the classes on it; repeat.
/// What a link has left is capacity - sum over levels of level * (sum of loads frozen there): with whole loads it does
/// not depend on how flows are put into classes, to the bit. Classes without a load get infinity. Links named must be
/// below capacities.size(); loads are above 0 and name a link once.
[[nodiscard]] std::vector<double> max_min_rates(std::span<const double> capacities, std::span<const LoadList> classes);

}  // namespace auspex::network
