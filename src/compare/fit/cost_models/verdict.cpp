/// @file Errors of points, outliers apart, and the words for them.
#include "compare/fit/cost_models/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/statistics/quantiles.hpp"
#include "base/units.hpp"

namespace auspex::fit {
namespace {

constexpr double kGoodWorst = 0.20;
constexpr double kOutlier = 0.30, kOutlierOfTypical = 5;

/// Tenths of a percent below 10 %, whole ones above.
std::string short_percent(double share) { return percent(share, share < 0.1 ? 1 : 0); }

std::string file_line_of(const models::Measurement& point) {
    if (point.kind != "kernel") {
        const std::string who = point.ranks > 2 ? ", " + std::to_string(point.ranks) + " ranks" : "";
        return point.name + " of " + format_quantity(point.bytes, Dimension::kBytes) + who;
    }
    std::string text = fixed(point.rows, 0) + " x " + fixed(point.columns, 0);
    text += point.depth > 1 ? " x " + fixed(point.depth, 0) : "";
    return text + (point.groups > 1 ? ", " + fixed(point.groups, 0) + " groups" : "");
}

}  // namespace

bool is_poor_fit(double typical_error, double worst_error) {
    return typical_error > kGoodTypical || worst_error > kGoodWorst;
}

void judge_timings(FitQuality& quality) {
    AUSPEX_CHECK(!quality.points.empty() && quality.points.size() == quality.predicted.size(),
                 "a prediction for every point");
    std::vector<double> errors;
    for (std::size_t i = 0; i < quality.points.size(); ++i) {
        errors.push_back(quality.predicted[i] / quality.points[i].seconds - 1);
    }
    std::vector<double> sizes(errors.size());
    std::transform(errors.begin(), errors.end(), sizes.begin(), [](double error) { return std::abs(error); });
    quality.typical_error = median(sizes);
    quality.worst_error = 0;
    quality.outliers = 0;
    std::size_t worst = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] > std::max(kOutlier, kOutlierOfTypical * quality.typical_error)) {
            ++quality.outliers;
        } else if (sizes[i] > quality.worst_error) {
            quality.worst_error = sizes[i];
            worst = i;
        }
    }
    const auto farthest = static_cast<std::size_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
    quality.farthest_error = sizes[farthest];
    // A few points in twenty may be disturbed measurements; more are the law's fault.
    constexpr int kPointsForAnOutlier = 10;
    const bool has_many = quality.outliers * kPointsForAnOutlier > static_cast<int>(sizes.size());
    quality.is_poor = is_poor_fit(quality.typical_error, quality.worst_error) || has_many;
    quality.verdict = quality.is_poor ? "poor" : "good";
    const auto signed_text = [&errors](std::size_t i) {
        return (errors[i] < 0 ? "-" : "+") + short_percent(std::abs(errors[i]));
    };
    bool has_reason = false;
    const auto add_reason = [&](const char* separator, const std::string& reason) {
        quality.verdict += (has_reason ? separator : ": ") + reason;
        has_reason = true;
    };
    if (quality.typical_error > kGoodTypical) {
        add_reason("", "typical error " + short_percent(quality.typical_error));
    }
    if (quality.worst_error > kGoodWorst) {
        add_reason(", ", "off by " + signed_text(worst) + " at " + file_line_of(quality.points[worst]));
    }
    if (has_many) {
        add_reason("; ", "too many outliers (" + std::to_string(quality.outliers) + " of " +
                             std::to_string(sizes.size()) + ")");
    } else if (quality.outliers > 0) {
        quality.verdict += "; " + std::to_string(quality.outliers) + (quality.outliers > 1 ? " outliers" : " outlier");
    }
    if (quality.outliers > 0) {
        quality.verdict += ", the farthest " + file_line_of(quality.points[farthest]) + ", " + signed_text(farthest);
    }
}

FitQuality quality_of(std::string kind, std::string name) {
    FitQuality quality;
    quality.kind = std::move(kind);
    quality.name = std::move(name);
    return quality;
}

void add_quality(FitQuality quality, Calibration& calibration) {
    if (!quality.points.empty()) {
        judge_timings(quality);
        calibration.fits.push_back(std::move(quality));
    }
}

}  // namespace auspex::fit
