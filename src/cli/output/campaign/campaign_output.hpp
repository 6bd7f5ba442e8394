#pragma once
/// @file JSON and text of `auspex campaign`.
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "base/statistics/interval.hpp"
#include "campaign/agreement.hpp"
#include "campaign/best_interval.hpp"
#include "campaign/campaign.hpp"
#include "report/campaign/campaign_page.hpp"

namespace auspex::cli {

/// What a campaign on top of a prediction runs, and what its checkpoints are.
struct PredictedRun {
    std::string machine, stack, workload, plan;
    std::vector<std::string> overrides;
    int tiles = 0;
    double tokens = 0;  ///< 0: the steps are given
    double tokens_per_step = 0;
    std::int64_t steps = 0;
    Interval interval_s;  ///< of the step, about 90 %
    double checkpoint_bytes = 0, model_bytes = 0;
    bool fits = true;
};

/// A campaign as it was played.
struct CampaignAnswer {
    campaign::Setting setting;
    campaign::Result result;
    std::optional<campaign::BestInterval> best;       ///< none without failures
    std::optional<campaign::Agreement> closed_forms;  ///< the same
    std::uint64_t seed = 1;
    std::optional<PredictedRun> run;  ///< not with --bare
    std::vector<report::FeatureWorth> worth;
    std::optional<report::CampaignCurve> curve;      ///< of --vary
    std::optional<report::CampaignOptimum> optimum;  ///< of --optimise
    std::optional<double> deadline_s;
    std::string start;  ///< date, or empty
    std::vector<std::string> notes;
    double elapsed_s = 0;  ///< that this computer took
};

/// Members of the object that is open.
void write_campaign(JsonWriter& json, const CampaignAnswer& answer);
void print_campaign(std::ostream& out, const CampaignAnswer& answer, const std::string& title);

}  // namespace auspex::cli
