#pragma once
/// @file A prediction as JSON members and as a page of text.
#include <ostream>

#include "base/json_writer.hpp"
#include "cli/flags/options.hpp"
#include "models/plan.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::cli {

/// Members of the open object: what docs/json-output.md lists for a prediction.
void write_prediction(JsonWriter& json, const predict::Prediction& prediction);
/// Member `published_spread` of the open object.
void write_published_spread(JsonWriter& json, const models::PublishedSpread& spread);
/// Member `memory` of the open object.
void write_memory(JsonWriter& json, const predict::MemoryReport& memory);
/// Members of the open object: what a run of --tokens takes.
void write_run(JsonWriter& json, const predict::Prediction& prediction);
/// The page of text below `title`; `plan` is the plan that was predicted.
void print_prediction(std::ostream& out, const predict::Prediction& prediction, const models::Plan& plan,
                      const std::string& title);

/// Text in a column of `width` characters (UTF-8), to its right edge or to its left.
[[nodiscard]] std::string right(const std::string& text, std::size_t width);
[[nodiscard]] std::string left(const std::string& text, std::size_t width);

}  // namespace auspex::cli
