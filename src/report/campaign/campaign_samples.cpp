/// @file The samples of a campaign as a table.
#include <cmath>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "report/campaign/campaign_page.hpp"

namespace auspex::report {
namespace {

void add_rows(std::string& out, const std::string& setting, const campaign::Result& result) {
    constexpr double kDay = 86'400;
    for (std::size_t i = 0; i < result.samples_elapsed_s.size(); ++i) {
        const bool is_over = std::isfinite(result.samples_elapsed_s[i]);
        const auto if_over = [&](double value) { return is_over ? json_number(value) : std::string(); };
        const auto& shares = result.samples_shares[i];
        out += setting + std::to_string(i) + "," + if_over(result.samples_elapsed_s[i] / kDay) + "," +
               if_over(result.samples_node_hours[i]) + "," +
               json_number(shares[static_cast<std::size_t>(campaign::Spent::kWork)]) + "," +
               json_number(result.samples_interruptions[i]);
        for (std::size_t spent = 1; spent < campaign::kSpentCount; ++spent) {
            out += "," + json_number(shares[spent]);
        }
        out += "\n";
    }
}

}  // namespace

std::string render_samples_csv(const campaign::Result& result, const std::optional<CampaignCurve>& curve) {
    std::string out =
        std::string(curve ? "setting,value," : "") + "sample,finish_days,node_hours,goodput,interruptions";
    for (std::size_t i = 1; i < campaign::kSpentCount; ++i) {
        out += std::string(",") + key_of(static_cast<campaign::Spent>(i));
    }
    out += "\n";
    add_rows(out, curve ? "given,," : "", result);
    if (curve) {
        for (const CampaignPoint& point : curve->points) {
            add_rows(out,
                     curve->what + "=" + six_digits(point.value) + (curve->is_time ? " s," : ",") +
                         json_number(point.value) + ",",
                     point.result);
        }
    }
    return out;
}

}  // namespace auspex::report
