#pragma once
/// @file Where a plot, its axes and the names of its curves stand in a picture of a given width.
#include <string>
#include <vector>

#include "report/parts/picture.hpp"
#include "report/parts/svg.hpp"

namespace auspex::report {

/// In user units.
struct PlotFrame {
    double width = 0, left = 0, right = 0, top = 0, bottom = 0;
    bool names_below = false;  ///< narrow pictures: names stand below the plot and not beside the curves' ends
    bool is_phone = false;
};

/// What a plot wants in a wide picture.
struct PlotWishes {
    double left = 70;    ///< room for the numbers of the vertical axis and its name
    double names = 220;  ///< room for names at the right; 0: there are none
    double top = 24, height = 350;
    double phone_left = 64;  ///< the same of a picture for phones
};
/// Pictures narrower than a page have their names below, those for phones are lower.
[[nodiscard]] PlotFrame plot_frame(double width, const PlotWishes& wishes);

/// A line across at each tick between low and high of `y`, its text in front of it, and the name of the axis.
void draw_value_axis(Svg& svg, const PlotFrame& frame, const SvgScale& y, const std::vector<double>& ticks,
                     const std::vector<std::string>& texts, std::string_view name);

/// The axis below the plot: a tick at each place, which have to rise, with their texts as far as they have room beside
/// one another, the last one in any case; and the name of the axis.
void draw_bottom_axis(Svg& svg, const PlotFrame& frame, const SvgScale& x, const std::vector<double>& ticks,
                      const std::vector<std::string>& texts, std::string_view name);
/// From the plot's bottom to that of a picture that ends below this axis, or to the names that stand there.
inline constexpr double kBelowAxis = 66;

/// Names beside the ends of their curves, at `end_x`, or, in a narrow picture, in lines that begin kBelowAxis under the
/// plot. Returns how high the picture has to be.
[[nodiscard]] double draw_names(Svg& svg, const PlotFrame& frame, std::vector<SvgLabel> names, double end_x);

/// About how wide a text of this many characters is.
[[nodiscard]] double text_width(std::size_t characters);

}  // namespace auspex::report
