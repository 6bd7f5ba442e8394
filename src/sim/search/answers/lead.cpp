/// @file Differences of elasticities.
#include "sim/search/answers/lead.hpp"

#include <cmath>
#include <map>
#include <string>

#include "base/statistics/distributions.hpp"

namespace auspex::search {

Lead lead_of(double best_s, const std::vector<predict::ConstantSensitivity>& best, double other_s,
             const std::vector<predict::ConstantSensitivity>& other) {
    std::map<std::string, double> deviations;  // of ln(other / best), by constant
    for (const predict::ConstantSensitivity& one : other) {
        deviations[one.constant.path] += one.elasticity * one.constant.relative_uncertainty;
    }
    for (const predict::ConstantSensitivity& one : best) {
        deviations[one.constant.path] -= one.elasticity * one.constant.relative_uncertainty;
    }
    double variance = 0;
    for (const auto& [path, deviation] : deviations) {
        variance += deviation * deviation;
    }
    const double sigma = std::sqrt(variance), reach = std::exp(normal_reach(0.9) * sigma);
    Lead lead;
    lead.ratio = other_s / best_s;
    lead.interval = {lead.ratio / reach, lead.ratio * reach};
    const double distance = std::log(lead.ratio);
    if (sigma > 0) {
        lead.probability_faster = 0.5 * std::erfc(distance / sigma / std::sqrt(2));
    } else {
        lead.probability_faster = distance == 0 ? 0.5 : distance < 0 ? 1 : 0;
    }
    return lead;
}

}  // namespace auspex::search
