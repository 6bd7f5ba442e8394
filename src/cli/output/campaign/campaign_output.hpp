#pragma once
/// @file JSON and text of `auspex campaign`.
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "campaign/agreement.hpp"
#include "campaign/best_interval.hpp"
#include "campaign/campaign.hpp"

namespace auspex::cli {

/// A campaign as it was played.
struct CampaignAnswer {
    campaign::Setting setting;
    campaign::Result result;
    std::optional<campaign::BestInterval> best;       ///< none without failures
    std::optional<campaign::Agreement> closed_forms;  ///< the same
    std::uint64_t seed = 1;
    std::optional<double> deadline_s;
    std::string start;  ///< date, or empty
    std::vector<std::string> notes;
    double elapsed_s = 0;  ///< that this computer took
};

/// Members of the object that is open.
void write_campaign(JsonWriter& json, const CampaignAnswer& answer);
void print_campaign(std::ostream& out, const CampaignAnswer& answer, const std::string& title);

}  // namespace auspex::cli
