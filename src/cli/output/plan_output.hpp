#pragma once
/// @file A plan as a plan file, and in a line.
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.hpp"
#include "models/plan.hpp"

namespace auspex::cli {

/// Members of the open object: all that load_plan() reads. A routing trace is named by its path.
void write_plan(JsonWriter& json, const models::Plan& plan);

/// "pp 8 dp 32 ep 12 tp 1, 1f1b, 8 x 1, recompute norm+attention, ep-aware, fused": what differs between plans.
[[nodiscard]] std::string plan_line(const models::Plan& plan, bool has_experts);

/// Names and values of the fields that a search varies, and of dp and micro_batches, which follow.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> plan_fields(const models::Plan& plan);

/// A field in which two plans differ.
struct PlanDifference {
    std::string field, value, base;
};
/// Those that a search varies; dp and the number of micro-batches follow from them.
[[nodiscard]] std::vector<PlanDifference> plan_differences(const models::Plan& plan, const models::Plan& base);
/// "tp 4 (not 2), recompute attention (not nothing)"; "the same plan".
[[nodiscard]] std::string differences_line(const models::Plan& plan, const models::Plan& base);

}  // namespace auspex::cli
