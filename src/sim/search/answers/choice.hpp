#pragma once
/// @file How sure the choice of the best plan is, and which constants decide it.
#include <cstdint>
#include <vector>

#include "sim/search/answers/ranked_plans.hpp"

namespace auspex::search {

/// With another value of one constant another plan leads.
struct DecidingConstant {
    Constant constant;
    std::size_t rival = 0;  ///< in the list: the plan that leads then
    double factor = 1;      ///< of the constant's value, the nearest to 1: there both steps are equal
    double deviations = 0;  ///< |factor - 1| as ln, over the constant's relative uncertainty
};

struct Choice {
    std::vector<double> probability_best;     ///< of each plan, among these; they sum to 1
    std::vector<DecidingConstant> constants;  ///< those within five deviations, the fewest first
};

/// Of plans with their elasticities e: constants drawn together, ln c normal with its relative uncertainty u, give
///   ln step = ln step_0 + sum e u z,
/// and a plan's probability is the share of 20,000 draws in which its step is the shortest; equal ones share it. Lead
/// and rival are level where ln factor = -ln(step_rival / step_0) / (e_rival - e_0). Elasticities are taken as
/// constant.
[[nodiscard]] Choice judge_choice(const std::vector<RankedPlan>& ranked, std::uint64_t seed = 1);

}  // namespace auspex::search
