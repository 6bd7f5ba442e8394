/// @file Node on the left, network on the right.
#include "report/fabric/fabric_drawing.hpp"

#include <algorithm>
#include <utility>

#include "base/units.hpp"
#include "report/fabric/drawing_parts.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kWidth = 960, kTop = 52, kNodeWidth = 450, kNetworkLeft = 490, kMargin = 14;

std::string network_title(const models::FabricRecipe& recipe, const network::FabricTotals& totals) {
    const auto blocks = static_cast<double>(totals.blocks);
    switch (recipe.kind) {
        case models::FabricKind::kDragonfly: return "Network: dragonfly, " + counted(blocks, "group");
        case models::FabricKind::kFatTree: return "Network: fat tree, " + counted(blocks, "leaf switch", "es");
        case models::FabricKind::kRail: return "Network: rails, " + counted(blocks, "unit");
    }
    return "Network";
}

/// The picture is as high as what stands in it: drawn once to find out, then in its place.
double draw(Svg& svg, const network::FabricGraph& graph, const network::FabricTotals& totals) {
    const models::Machine& machine = graph.machine();
    const std::string of_nodes =
        totals.nodes == 1 ? "One node" : "One of " + counted(static_cast<double>(totals.nodes), "node");
    svg.text({kMargin, 26}, of_nodes + " of " + machine.name, "total");
    svg.text({kNetworkLeft, 26}, network_title(machine.fabric, totals), "total");
    const double node = draw_node(svg, machine, {kMargin, kTop, kNodeWidth - kMargin});
    const double network = draw_network(svg, graph, totals, {kNetworkLeft, kTop, kWidth - kNetworkLeft - kMargin});
    return std::max(node, network) + kMargin;
}

}  // namespace

std::string rate_text(double bytes_per_s) { return format_quantity(bytes_per_s, Dimension::kBytesPerSecond); }

std::string links_text(int links, double bytes_per_s) {
    return counted(links, "link") + " of " + rate_text(bytes_per_s);
}

void draw_box(Svg& svg, SvgPoint corner, double width, double height, int color, std::string_view name) {
    const std::string number = std::to_string(color);
    svg.rect(corner, width, height, "segment l" + number, name);
    svg.text({corner.x + width / 2, corner.y + height / 2 + 4}, name, "inside t" + number, "middle");
}

std::string fabric_drawing(const network::FabricGraph& graph, const network::FabricTotals& totals) {
    const std::string title = graph.machine().name + ": one node and the network";
    const std::string description = counted(static_cast<double>(totals.nodes), "node") + ", " +
                                    counted(static_cast<double>(totals.nics), "NIC") + ", " +
                                    counted(static_cast<double>(totals.switches), "switch", "es");
    Svg measure(kWidth, 0, title, description);
    const double height = draw(measure, graph, totals);
    Svg svg(kWidth, height, title, description);
    draw(svg, graph, totals);
    return std::move(svg).finish();
}

}  // namespace auspex::report
