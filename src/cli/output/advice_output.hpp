#pragma once
/// @file What would help a step: in words, as text and as JSON.
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "cli/flags/options.hpp"
#include "models/inputs.hpp"
#include "report/prediction/advice_table.hpp"
#include "sim/search/advice/advice.hpp"

namespace auspex::cli {

/// How many changes are to be listed; 0: none are to be looked for. Throws InputError where they are asked for of a
/// machine of CPU cores.
[[nodiscard]] int changes_wanted(const Options& options, const models::Machine& machine, int by_default);

/// Takes the plans that `auspex emit --format WORD` writes; every plan where there is no word. `name`: of what asks for
/// it, as --format. Throws InputError under it for a word that is none.
[[nodiscard]] search::PlanFilter emitted_plans(const std::string& word, const std::string& name);

/// The most helpful changes, `most` of each list.
[[nodiscard]] report::AdviceRows advice_rows(const search::Advice& advice, const predict::Prediction& prediction,
                                             const models::Inputs& inputs, int most);

/// Member "advice".
void write_advice(JsonWriter& json, const search::Advice& advice, const predict::Prediction& prediction,
                  const models::Inputs& inputs, int most);

void print_advice(std::ostream& out, const report::AdviceRows& advice);
/// "On 384 tiles would help, each by itself: plan.recompute=[] (+30 %); …", of what can be had.
[[nodiscard]] std::string advice_line(const report::AdviceRows& advice, int tiles);

}  // namespace auspex::cli
