#pragma once
/// @file How sure a search's choice is, and where a given plan stands, as JSON members and as text.
#include "base/json_writer.hpp"
#include "sim/search/answers/choice.hpp"
#include "sim/search/answers/given_plan.hpp"

namespace auspex::cli {

/// Member `deciding_constants` of the open object.
void write_deciding_constants(JsonWriter& json, const search::Choice& choice);
/// Members of the open object `given`: how many plans are faster.
void write_faster(JsonWriter& json, const search::GivenPlan& given);
/// How probable it is that the best one is, and what would have to change.
void print_choice(const search::Choice& choice);

}  // namespace auspex::cli
