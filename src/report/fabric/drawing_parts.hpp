#pragma once
/// @file Boxes and labels that the drawings of nodes and networks are made of.
#include <string>
#include <string_view>

#include "models/machine.hpp"
#include "report/parts/svg.hpp"
#include "sim/network/fabric/fabric_totals.hpp"

namespace auspex::report {

/// Where a part of a drawing may stand, in SVG user units.
struct DrawingArea {
    double left = 0, top = 0, width = 0;
};

/// "25 GB/s".
[[nodiscard]] std::string rate_text(double bytes_per_s);
/// "2 links of 25 GB/s", "1 link of 25 GB/s".
[[nodiscard]] std::string links_text(int links, double bytes_per_s);
/// A filled box with its name inside; `color` is a number of the style sheet's segment colours.
void draw_box(Svg& svg, SvgPoint corner, double width, double height, int color, std::string_view name);

/// Draws the inside of a node; returns the y of the lowest point drawn.
double draw_node(Svg& svg, const models::Machine& machine, DrawingArea area);
/// Draws the network's switches and links; returns the y of the lowest point drawn.
double draw_network(Svg& svg, const network::FabricGraph& graph, const network::FabricTotals& totals, DrawingArea area);

}  // namespace auspex::report
