#pragma once
/// @file What auspex predict writes beside its answer: a timeline, Chakra traces.
#include <string>

#include "base/json_writer.hpp"
#include "cli/flags/options.hpp"
#include "schedule/timeline.hpp"
#include "sim/predict/predict.hpp"
#include "workflows/chakra/export_traces.hpp"

namespace auspex::cli {

/// Throws InputError for flags of traces that do not go together, and for a place that cannot be written to: before the
/// step is simulated, so that a slip costs no time.
void check_traces(const Options& options);
/// Of another command, which has no lens.
void require_writable_place(const std::string& file);
/// `about`: what the trace is of, for formats that can say it.
void write_trace(const schedule::Timeline& timeline, const predict::TraceDetails* details,
                 const std::vector<std::pair<std::string, std::string>>& about, const std::string& file);
/// The same of a prediction.
void write_trace(const predict::PredictResult& result, const models::Inputs& inputs, const Options& options);

[[nodiscard]] workflows::ChakraExported write_chakra(const models::Inputs& inputs, const Options& options);
/// Member `chakra` of the open object, and the same in words.
void write_chakra_json(JsonWriter& json, const workflows::ChakraExported& exported, const Options& options);
void print_chakra(const workflows::ChakraExported& exported, const Options& options);

}  // namespace auspex::cli
