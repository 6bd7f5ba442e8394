#pragma once
/// @file The page of auspex plan --out.
#include "cli/output/search_output.hpp"
#include "report/plans/plan_page.hpp"
#include "sim/search/answers/plan_map.hpp"

namespace auspex::cli {

/// Files that a folder of --out gets.
inline constexpr const char* kPlanFiles = "index.html, plans.json, best.json, memory.svg";

/// The page's content; rows of its table are the ranked plans, the given one, those of the front, and the best of each
/// cell of the map's first pair.
[[nodiscard]] report::PlanPage plan_page_of(const models::Inputs& inputs, const Options& options,
                                            const FoundPlans& found, const search::PlanMap& map);

}  // namespace auspex::cli
