#pragma once
/// @file Predictions of a measured sweep of layouts beside its measurements, as JSON and as tables.
#include <iosfwd>

#include "base/json_writer.hpp"
#include "compare/evaluate/sweep_judgement.hpp"

namespace auspex::cli {

/// Members of the open object: what docs/json-output.md lists for `auspex plan --against` behind the names.
void write_sweep(JsonWriter& json, const std::vector<evaluate::SweepRow>& rows,
                 const std::vector<evaluate::SweepPrediction>& predictions, const evaluate::SweepJudgement& judgement);

/// A line for each cell, and what all of them come to.
void print_sweep(std::ostream& out, const std::vector<evaluate::SweepRow>& rows,
                 const evaluate::SweepJudgement& judgement);

}  // namespace auspex::cli
