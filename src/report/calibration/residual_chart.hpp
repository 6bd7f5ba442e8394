#pragma once
/// @file Predicted over measured, against the measured time.
#include <span>
#include <string>

#include "compare/fit/calibration.hpp"
#include "report/parts/picture.hpp"

namespace auspex::report {

/// Most fits in one chart: as many as there are curve colours.
inline constexpr std::size_t kMaxResiduals = 7;

/// Inline SVG: a mark for each point, a colour for each fit; marks beyond a factor of two stand at the edge. Requires 1
/// to kMaxResiduals fits with points.
[[nodiscard]] std::string residual_chart(const std::string& title, std::span<const fit::FitQuality* const> fits,
                                         double width = kPagePicture);

}  // namespace auspex::report
