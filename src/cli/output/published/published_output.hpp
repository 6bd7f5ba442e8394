#pragma once
/// @file Predictions of published collectives beside what was measured, as JSON and as tables.
#include <iosfwd>

#include "base/json_writer.hpp"
#include "compare/evaluate/published_judgement.hpp"

namespace auspex::cli {

/// Members of the open object: what docs/json-output.md lists for `auspex collective --against` behind the names.
void write_published(JsonWriter& json, const std::vector<evaluate::PredictedCollective>& rows,
                     const evaluate::PublishedJudgement& judgement);

/// A line for every machine, library, kind and class of sizes, what all of them come to, and the worst rows.
void print_published(std::ostream& out, const std::vector<evaluate::PredictedCollective>& rows,
                     const evaluate::PublishedJudgement& judgement);

}  // namespace auspex::cli
