#pragma once
/// @file Whether a law meets its rows.
#include <string>

#include "compare/fit/cost_models/calibration_result.hpp"

namespace auspex::fit {

/// A typical error above this is poor by itself, and verdicts name it.
inline constexpr double kGoodTypical = 0.05;
/// The limits of every verdict: true for a typical error (the median) above kGoodTypical or a worst one above 20 %.
[[nodiscard]] bool is_poor_fit(double typical_error, double worst_error);

/// Of a law that is fitted to many timings of this computer, some of which were disturbed; a table's few rows all count
/// (judge_table_rows, table_calibration.hpp). Fills errors, outliers (points further off than 30 % and five times the
/// typical error; they are in farthest_error, not in worst_error) and the verdict from points and predicted: "good"
/// unless is_poor_fit or more than a tenth of the points are outliers, else each of these three that is so, and where.
/// Outliers are named in a good one too.
void judge_timings(FitQuality& quality);

/// Without points yet.
[[nodiscard]] FitQuality quality_of(std::string kind, std::string name);
/// Judges points beside what their law makes of them, and keeps that. Nothing where there are no points.
void add_quality(FitQuality quality, Calibration& calibration);

}  // namespace auspex::fit
