#pragma once
/// @file Quantiles over samples as JSON.
#include "base/json_writer.hpp"
#include "campaign/campaign.hpp"

namespace auspex::cli {

/// Members of the object that is open: p10, p50, p90, mean; null where so many samples were given up.
void write_quantiles(JsonWriter& json, const campaign::Quantiles& of);

}  // namespace auspex::cli
