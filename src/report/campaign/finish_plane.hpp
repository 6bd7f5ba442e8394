#pragma once
/// @file Days until half of the runs are over against node-hours: the plane of settings and of sizes, and its front.
#include <vector>

#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"

namespace auspex::report {

/// Ends of what is drawn.
struct FinishRange {
    double soonest_days = 0, latest_days = 0, least_hours = 0, most_hours = 0;
};

struct FinishPlane {
    PlotFrame frame;
    std::vector<double> ticks_x, ticks_y;
    SvgScale x, y;
};
[[nodiscard]] FinishPlane finish_plane(double width, const FinishRange& range);
void draw_finish_axes(Svg& svg, const FinishPlane& plane);

/// The next point of a front from the soonest on: a step down the stairs that it is drawn as.
void add_stair(std::vector<SvgPoint>& stairs, SvgPoint at);

}  // namespace auspex::report
