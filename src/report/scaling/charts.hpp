#pragma once
/// @file The four pictures of a scaling report, as inline SVG of a width. All require at least one point.
#include <string>
#include <string_view>
#include <vector>

#include "report/parts/picture.hpp"
#include "report/scaling/scale_points.hpp"

namespace auspex::report {

/// Losses (and memory labels) have colours l0 … l13 in the style sheet.
inline constexpr std::size_t kColorCount = 14;

/// Efficiency against tiles: the prediction, the same without single causes, the ideal, the spread between them, and
/// what was published.
[[nodiscard]] std::string efficiency_chart(const ScalingReport& report, double width = kPagePicture);
/// Tokens per second against tiles, both logarithmic, with the interval of the step time.
[[nodiscard]] std::string throughput_chart(const ScalingReport& report, double width = kPagePicture);
/// Where the step goes, a bar per point; in seconds, or as shares where the steps differ too much to share an axis.
[[nodiscard]] std::string loss_chart(const ScalingReport& report, double width = kPagePicture);
/// A step with its losses, and what stands under its bar and in its tooltips.
struct NamedStep {
    std::string name, tooltip_name;
    const predict::Prediction* prediction;
};
/// The same of any steps; one at least. `axis_name`: what the names are.
[[nodiscard]] std::string step_loss_chart(const std::vector<NamedStep>& steps, const std::string& axis_name,
                                          std::string_view title, double width = kPagePicture);
/// Memory by stage and label, against what a tile has. Requires at least one stage.
[[nodiscard]] std::string memory_chart(const predict::MemoryReport& memory, double width = kPagePicture);

}  // namespace auspex::report
