#pragma once
/// @file A prediction as JSON members and as a page of text.
#include <ostream>

#include "cli/json_writer.hpp"
#include "models/plan.hpp"
#include "sim/prediction.hpp"

namespace auspex {

/// Members of the open object: the documented keys of `predict --json`.
void write_prediction(JsonWriter& json, const Prediction& prediction);
void print_prediction(std::ostream& out, const Prediction& prediction, const Plan& plan, const std::string& title);

/// Text in a column of `width` characters (UTF-8), to its right edge or to its left.
[[nodiscard]] std::string right(const std::string& text, std::size_t width);
[[nodiscard]] std::string left(const std::string& text, std::size_t width);

}  // namespace auspex
