#pragma once
/// @file The best setting of a campaign, as JSON and text.
#include <ostream>

#include "base/json_writer.hpp"
#include "report/campaign/campaign_optimum.hpp"

namespace auspex::cli {

/// The member "optimum" of the open object.
void write_optimum(JsonWriter& json, const report::CampaignOptimum& optimum);
void print_optimum(std::ostream& out, const report::CampaignOptimum& optimum);

}  // namespace auspex::cli
