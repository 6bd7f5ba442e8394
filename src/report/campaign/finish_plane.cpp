/// @file Axes and stairs.
#include "report/campaign/finish_plane.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

std::vector<std::string> texts_of(const std::vector<double>& ticks) {
    std::vector<std::string> texts;
    std::ranges::transform(ticks, std::back_inserter(texts), tick_count);
    return texts;
}

}  // namespace

FinishPlane finish_plane(double width, const FinishRange& range) {
    FinishPlane plane;
    plane.frame = plot_frame(width, {.left = 100, .names = 0, .top = 24, .height = 320, .phone_left = 86});
    plane.ticks_y = wide_ticks(range.least_hours, range.most_hours, 5);
    plane.ticks_x = wide_ticks(range.soonest_days, range.latest_days, 7);
    plane.x = {plane.ticks_x.front(), plane.ticks_x.back(), plane.frame.left, plane.frame.right};
    plane.y = {plane.ticks_y.front(), plane.ticks_y.back(), plane.frame.bottom, plane.frame.top};
    return plane;
}

void draw_finish_axes(Svg& svg, const FinishPlane& plane) {
    draw_value_axis(svg, plane.frame, plane.y, plane.ticks_y, texts_of(plane.ticks_y), "node hours");
    draw_bottom_axis(svg, plane.frame, plane.x, plane.ticks_x, texts_of(plane.ticks_x),
                     "days until half of the runs are over");
}

void add_stair(std::vector<SvgPoint>& stairs, SvgPoint at) {
    if (!stairs.empty()) {
        stairs.push_back({at.x, stairs.back().y});
    }
    stairs.push_back(at);
}

}  // namespace auspex::report
