#pragma once
/// @file What a search for layouts has found, as JSON and as a page of text.
#include <optional>
#include <vector>

#include "base/json_writer.hpp"
#include "cli/flags/options.hpp"
#include "report/plans/plan_finish.hpp"
#include "sim/search/answers/choice.hpp"
#include "sim/search/answers/given_plan.hpp"
#include "sim/search/answers/memory_room.hpp"
#include "sim/search/answers/shut_out.hpp"

namespace auspex::cli {

struct FoundPlans {
    search::SearchResult result;             ///< with at least one plan
    std::vector<search::RankedPlan> ranked;  ///< its best
    search::ShutOutPlans shut_out;
    search::Choice choice;                       ///< among `ranked`
    search::MemoryRoom room;                     ///< of `ranked`
    std::optional<search::GivenPlan> given;      ///< of --plan
    std::optional<report::PlanFinishes> finish;  ///< with --tokens: of `ranked`, or of the first of them

    [[nodiscard]] bool is_by_finish() const { return finish && finish->is_objective; }
};

/// The document that docs/json-output.md describes, an object.
void write_search(JsonWriter& json, const models::Inputs& inputs, const Options& options, const FoundPlans& found);
/// The page of text.
void print_search(const models::Inputs& inputs, const Options& options, const FoundPlans& found);

}  // namespace auspex::cli
