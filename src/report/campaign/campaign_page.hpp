#pragma once
/// @file The page of a campaign: when runs are over, where their time went, one of them, intervals and spare nodes.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "campaign/agreement.hpp"
#include "campaign/best_interval.hpp"
#include "campaign/campaign.hpp"
#include "report/campaign/campaign_optimum.hpp"
#include "report/campaign/campaign_words.hpp"
#include "report/parts/input_file.hpp"

namespace auspex::report {

/// A campaign of which one number differs from the page's own.
struct CampaignPoint {
    double value = 0;  ///< seconds, or a count
    std::string text;  ///< the same as people read it
    campaign::Result result;
};
/// Several of them, smallest value first.
struct CampaignCurve {
    std::string what;      ///< "interval", "spares", "walltime", "nodes"
    bool is_time = false;  ///< values are seconds
    std::vector<CampaignPoint> points;
};

/// What a feature is worth: the campaign without it, less the campaign, in the mean.
struct FeatureWorth {
    std::string feature;
    double node_hours = 0, elapsed_s = 0;
};

struct CampaignPage {
    std::string subject;  ///< "mula-220b-a10b on 1,024 nodes of aurora"
    std::string command;
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;
    campaign::Setting setting;
    campaign::Result result;
    std::optional<campaign::BestInterval> best;
    std::optional<campaign::Agreement> closed_forms;
    std::uint64_t course_sample = 0;         ///< that of median length, counted from 0
    campaign::Outcome course;                ///< how it went, with its periods and strikes
    std::vector<CampaignCurve> curves;       ///< may be empty
    std::vector<FeatureWorth> worth;         ///< may be empty
    std::optional<CampaignOptimum> optimum;  ///< of --optimise
    std::vector<std::string> notes;
};

/// "Half of the runs are over after 67.9 d, nine of ten after 70.4 d; 88.1 % of the time is goodput; what costs most
/// …".
[[nodiscard]] std::string campaign_headline(const CampaignPage& page);

// Pictures as inline SVG.
[[nodiscard]] std::string finish_chart(const CampaignPage& page, double width);
[[nodiscard]] std::string badput_chart(const CampaignPage& page, double width);
[[nodiscard]] std::string course_chart(const CampaignPage& page, double width);
/// Requires page.best with a curve.
[[nodiscard]] std::string interval_chart(const CampaignPage& page, double width);
/// Requires a point.
[[nodiscard]] std::string campaign_curve_chart(const CampaignCurve& curve, double width);

[[nodiscard]] std::string render_campaign_html(const CampaignPage& page);
/// A row a sample: sample, finish_days, node_hours (both empty where it was given up), goodput and interruptions, then
/// each badput by its key, shares of the sample's own time. With a curve two columns before these: setting ("given",
/// "interval=1800 s") and value (that of the point, empty for what was given), and rows of all its points.
[[nodiscard]] std::string render_samples_csv(const campaign::Result& result, const std::optional<CampaignCurve>& curve);

}  // namespace auspex::report
