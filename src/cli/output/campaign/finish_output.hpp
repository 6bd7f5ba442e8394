#pragma once
/// @file When layouts have trained so many tokens, as JSON and text.
#include <ostream>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "report/plans/plan_finish.hpp"

namespace auspex::cli {

/// The member "campaign" of a layout's object.
void write_plan_finish(JsonWriter& json, const report::PlanFinish& finish);
/// The member "finish": of what was played, and whether anything else could be over before.
void write_finishes(JsonWriter& json, const report::PlanFinishes& finishes);

/// A row for each; `steps`, `lines`: step time and plan of each as people read them.
void print_finishes(std::ostream& out, const report::PlanFinishes& finishes, const std::vector<std::string>& steps,
                    const std::vector<std::string>& lines);

}  // namespace auspex::cli
