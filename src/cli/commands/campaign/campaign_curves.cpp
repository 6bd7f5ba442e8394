/// @file auspex campaign --vary: intervals, spares, walltimes, nodes.
#include "cli/commands/campaign/campaign_curves.hpp"

#include <algorithm>

#include "base/number_text.hpp"
#include "base/units.hpp"
#include "cli/commands/campaign/ranges.hpp"
#include "cli/commands/campaign/varied_setting.hpp"

namespace auspex::cli {
namespace {

const char* const kForm = "interval, spares, walltime or nodes, as in interval=2min:2h:10 or spares=0:20:11";

report::CampaignPoint played_point(const Options& options, const campaign::Setting& setting, double value,
                                   std::string text) {
    return {value, std::move(text),
            campaign::play_campaign(setting, {options.campaign.samples, options.seed.value_or(1)})};
}

}  // namespace

report::CampaignCurve varied_campaigns(const Options& options, const CampaignCase& played) {
    const Range range = read_range("--vary", options.campaign.vary, {"interval", "spares", "walltime", "nodes"}, kForm);
    const bool is_time = range.what == "interval" || range.what == "walltime";
    report::CampaignCurve curve{range.what, is_time, {}};
    VariedSettings settings(options, played, "--vary");
    for (const double value : values_of(range)) {
        const campaign::Setting setting = settings.with({{range.what, value}});
        const double as_played =
            range.what == "interval" ? static_cast<double>(setting.checkpoints.every_steps) * setting.step_s : value;
        if (!curve.points.empty() && curve.points.back().value == as_played) {
            continue;
        }
        curve.points.push_back(
            played_point(options, setting, as_played,
                         is_time ? format_quantity(as_played, Dimension::kSeconds) : thousands(as_played)));
    }
    return curve;
}

report::CampaignCurve spares_curve(const Options& options, const campaign::Setting& setting, std::int64_t needed) {
    constexpr int kPoints = 9;
    const auto most = static_cast<double>(std::max<std::int64_t>({2 * needed, setting.nodes.spares.value_or(0), 1}));
    report::CampaignCurve curve{"spares", false, {}};
    for (const double value : values_of({"spares", 0, most, kPoints})) {
        campaign::Setting other = setting;
        other.nodes.spares = static_cast<int>(value);
        curve.points.push_back(played_point(options, other, value, thousands(value)));
    }
    return curve;
}

}  // namespace auspex::cli
