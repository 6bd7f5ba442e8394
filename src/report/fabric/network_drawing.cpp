/// @file The network: switches where they can be seen apart, and the links between those that are drawn.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "report/fabric/drawing_parts.hpp"
#include "report/parts/text.hpp"
#include "sim/network/fabric/tree.hpp"

namespace auspex::report {
namespace {

constexpr double kLine = 17, kCircle = 380, kBoxHeight = 26;
constexpr int kMaxGroups = 8, kMaxSwitchesOfGroup = 8;
constexpr int kBlockColor = 1, kSpineColor = 2, kCoreColor = 10;
constexpr double kFullTurn = 2 * std::numbers::pi;

using Places = std::map<std::uint32_t, SvgPoint>;

const char* css_of(network::LinkKind kind) {
    switch (kind) {
        case network::LinkKind::kGlobal:
        case network::LinkKind::kPodUplink: return "curve v1";
        default: return "bar v0";
    }
}

/// One line for all links between two switches that are drawn; it ends `half_box` above the lower place and below the
/// upper one.
void draw_links(Svg& svg, const network::FabricGraph& graph, const Places& places, double half_box) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<network::LinkKind, int>> lines;
    graph.for_each_link([&](const network::GraphLink& link) {
        if (link.from < link.to && places.count(link.from) > 0 && places.count(link.to) > 0) {
            auto& line = lines[{link.from, link.to}];
            line.first = link.kind;
            ++line.second;
        }
    });
    for (const auto& [ends, line] : lines) {
        SvgPoint from = places.at(ends.first), to = places.at(ends.second);
        const double downwards = from.y < to.y ? half_box : -half_box;
        from.y += downwards;
        to.y -= downwards;
        svg.line(from, to, css_of(line.first));
    }
}

SvgPoint on_circle(SvgPoint center, double radius, int index, int count) {
    const double angle = kFullTurn * index / count - kFullTurn / 4;
    return {center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)};
}

double write_notes(Svg& svg, const std::vector<std::string>& notes, double left, double top) {
    double y = top;
    for (const std::string& note : notes) {
        svg.text({left, y}, note, "tick");
        y += kLine;
    }
    return y - kLine;
}

void add_block_notes(const models::Machine& machine, const network::FabricTotals& totals, const char* block, int nodes,
                     std::vector<std::string>& notes) {
    notes.push_back(std::string(block) + ": " + counted(nodes, "node") + ", " +
                    counted(1.0 * nodes * machine.node.nics, "NIC"));
    if (totals.block_out_bytes_per_s <= 0) {
        return;
    }
    notes.push_back("Out of it: " + rate_text(totals.block_out_bytes_per_s) + ", " + significant(100 * totals.taper()) +
                    " % of what its NICs' links carry");
}

/// Every switch and link.
void draw_small_dragonfly(Svg& svg, const network::FabricGraph& graph, SvgPoint center) {
    const models::FabricRecipe& recipe = graph.machine().fabric;
    const double group_radius = recipe.groups == 1 ? kCircle / 2 - 60 : 42,
                 radius = recipe.groups == 1 ? 0 : kCircle / 2 - 62;
    Places places;
    for (std::uint32_t v = 0; v < graph.switch_count(); ++v) {
        const network::GraphVertex& vertex = graph.vertex(v);
        const SvgPoint group = on_circle(center, radius, vertex.block, recipe.groups);
        places[v] = recipe.switches_per_group == 1
                        ? group
                        : on_circle(group, group_radius - 14, vertex.index, recipe.switches_per_group);
    }
    for (int g = 0; g < recipe.groups; ++g) {
        const SvgPoint group = on_circle(center, radius, g, recipe.groups);
        std::vector<SvgPoint> ring;
        for (int i = 0; i < 24; ++i) {
            ring.push_back(on_circle(group, group_radius, i, 24));
        }
        svg.polygon(ring, "band");
    }
    draw_links(svg, graph, places, 0);
    for (const auto& [v, place] : places) {
        const network::GraphVertex& vertex = graph.vertex(v);
        svg.marker(place, 0, "mark v0",
                   "group " + std::to_string(vertex.block) + ", switch " + std::to_string(vertex.index));
    }
    for (int g = 0; g < recipe.groups && recipe.groups > 1; ++g) {
        const SvgPoint name = on_circle(center, radius + group_radius + 9, g, recipe.groups);
        svg.text({name.x, name.y + 4}, std::to_string(g), "tick", "middle");
    }
}

/// Groups as boxes; the last one stands for all that are not drawn.
void draw_large_dragonfly(Svg& svg, const models::FabricRecipe& recipe, SvgPoint center) {
    constexpr double kWidth = 86, kHeight = 40;
    const int boxes = std::min(recipe.groups, kMaxGroups), left_out = recipe.groups - boxes + 1;
    const auto place = [&](int g) { return on_circle(center, kCircle / 2 - 44, g, boxes); };
    for (int g = 0; g < boxes; ++g) {
        for (int h = g + 1; h < boxes; ++h) {
            svg.line(place(g), place(h), css_of(network::LinkKind::kGlobal));
        }
    }
    for (int g = 0; g < boxes; ++g) {
        const SvgPoint corner{place(g).x - kWidth / 2, place(g).y - kHeight / 2};
        if (const bool is_rest = g + 1 == boxes && left_out > 1; is_rest) {
            draw_box(svg, corner, kWidth, kHeight, 11, "… " + thousands(left_out) + " more");
            continue;
        }
        const std::string number = std::to_string(kBlockColor);
        svg.rect(corner, kWidth, kHeight, "segment l" + number, "group " + std::to_string(g));
        svg.text({place(g).x, corner.y + 17}, "group " + std::to_string(g), "inside t" + number, "middle");
        svg.text({place(g).x, corner.y + 32}, counted(recipe.switches_per_group, "switch", "es"), "inside t" + number,
                 "middle");
    }
}

double draw_dragonfly(Svg& svg, const network::FabricGraph& graph, const network::FabricTotals& totals,
                      DrawingArea area) {
    const models::Machine& machine = graph.machine();
    const models::FabricRecipe& recipe = machine.fabric;
    const SvgPoint center{area.left + area.width / 2, area.top + kCircle / 2};
    const bool is_small = recipe.groups <= kMaxGroups && recipe.switches_per_group <= kMaxSwitchesOfGroup;
    if (is_small) {
        draw_small_dragonfly(svg, graph, center);
    } else {
        draw_large_dragonfly(svg, recipe, center);
    }
    std::vector<std::string> notes;
    if (recipe.groups > 1) {
        notes.push_back("Any two groups: " + links_text(recipe.global_links, recipe.link_bytes_per_s));
    }
    const std::string between = "; any two of them: " + links_text(recipe.local_links, recipe.link_bytes_per_s);
    notes.push_back(counted(recipe.switches_per_group, "switch", "es") + " a group" +
                    (recipe.switches_per_group > 1 ? between : ""));
    add_block_notes(machine, totals, "A group", recipe.nodes_per_group, notes);
    notes.push_back("A packet passes at most " + counted(totals.diameter_switches, "switch", "es") +
                    " on the minimal path");
    return write_notes(svg, notes, area.left, area.top + kCircle + kLine);
}

/// The switches of one kind and pod, side by side.
struct TreeRow {
    network::VertexKind kind;
    int pod;
    std::vector<std::uint32_t> all;
};

std::vector<TreeRow> rows_of(const network::FabricGraph& graph) {
    std::map<std::pair<network::VertexKind, int>, TreeRow> rows;
    for (std::uint32_t v = 0; v < graph.switch_count(); ++v) {
        const network::GraphVertex& vertex = graph.vertex(v);
        TreeRow& row = rows[{vertex.kind, vertex.pod}];
        row.kind = vertex.kind;
        row.pod = vertex.pod;
        row.all.push_back(v);
    }
    std::vector<TreeRow> out;
    for (auto& [key, row] : rows) {
        out.push_back(std::move(row));
    }
    return out;
}

/// Pods side by side (the first two of many), in each its leaves below its spines; the cores above all.
class TreeDrawing {
 public:
    TreeDrawing(Svg& svg, const network::FabricGraph& graph, const network::FabricTotals& totals, DrawingArea area)
        : svg_(svg), graph_(graph), totals_(totals), area_(area), shape_(network::tree_shape(graph.machine())) {
        const auto pods = static_cast<int>(std::max<std::uint64_t>(1, totals.pods));
        pods_ = std::min(pods, 2);
        const double rest = pods > pods_ ? 74 : 0;
        pod_width_ = (area.width - rest) / pods_;
        most_ = pods_ == 1 ? 10 : 5;
    }

    double draw() {
        const bool cores = totals_.cores > 0;
        const double spine_y = area_.top + (cores ? 130 : 20), leaf_y = spine_y + 150;
        for (const TreeRow& row : rows_of(graph_)) {
            if (row.kind == network::VertexKind::kCore) {
                place(row, area_.left, area_.width, area_.top + 20, kCoreColor, "core");
            } else if (row.pod < pods_) {
                const double left = area_.left + row.pod * pod_width_;
                const bool is_spine = row.kind == network::VertexKind::kSpine;
                place(row, left, pod_width_, is_spine ? spine_y : leaf_y, is_spine ? kSpineColor : kBlockColor,
                      is_spine ? "spine" : "leaf");
            }
        }
        if (totals_.pods > static_cast<std::uint64_t>(pods_)) {
            svg_.text({area_.left + area_.width, (spine_y + leaf_y) / 2},
                      "… of " + counted(static_cast<double>(totals_.pods), "pod"), "tick", "end");
        }
        draw_links(svg_, graph_, places_, kBoxHeight / 2);
        for (const Box& box : boxes_) {
            draw_box(svg_, box.corner, box.width, kBoxHeight, box.color, box.name);
        }
        return write_notes(svg_, notes(), area_.left, leaf_y + 60);
    }

 private:
    struct Box {
        SvgPoint corner;
        double width;
        int color;
        std::string name;
    };

    /// The first `most_` of a row; where there are more, the last place says how many.
    void place(const TreeRow& row, double left, double width, double y, int color, const char* kind) {
        const std::size_t count = row.all.size(), shown = count <= most_ ? count : most_ - 1;
        const double rest = count > shown ? 66 : 0, step = (width - 8 - rest) / static_cast<double>(shown);
        const double box_width = std::min(60.0, step - 4);
        for (std::size_t i = 0; i < shown; ++i) {
            const double x = left + step * (static_cast<double>(i) + 0.5);
            places_[row.all[i]] = {x, y};
            boxes_.push_back(
                {{x - box_width / 2, y - kBoxHeight / 2}, box_width, color, name_of(row.all[i], kind, box_width)});
        }
        if (count > shown) {
            svg_.text({left + width - 8, y + 4}, "… of " + thousands(static_cast<double>(count)), "tick", "end");
        }
    }

    /// Rails are numbered unit.rail. A narrow box has its number only.
    [[nodiscard]] std::string name_of(std::uint32_t v, const char* kind, double width) const {
        const network::GraphVertex& vertex = graph_.vertex(v);
        std::string number = std::to_string(vertex.kind == network::VertexKind::kSwitch ? vertex.block : vertex.index);
        if (vertex.kind == network::VertexKind::kSwitch && graph_.machine().fabric.kind == models::FabricKind::kRail) {
            number += "." + std::to_string(vertex.index);
        }
        return width >= 56 ? kind + (" " + number) : number;
    }

    [[nodiscard]] std::vector<std::string> notes() const {
        const models::Machine& machine = graph_.machine();
        const models::FabricRecipe& recipe = machine.fabric;
        const bool rails = recipe.kind == models::FabricKind::kRail;
        std::vector<std::string> notes;
        if (rails) {
            notes.emplace_back("Leaves are numbered unit.rail: NIC r of a node hangs on rail r");
        }
        notes.push_back(std::string("Bottom up: leaves, spines") + (totals_.cores > 0 ? " of each pod, cores" : ""));
        notes.push_back("A leaf has " + counted(shape_.leaf_uplinks, "uplink") + " of " +
                        rate_text(shape_.leaf_bytes_per_s / shape_.leaf_uplinks));
        add_block_notes(machine, totals_, rails ? "A unit" : "A leaf", recipe.nodes_per_leaf, notes);
        if (totals_.pods > 0) {
            notes.push_back(
                "A pod: " + counted(recipe.leaves_per_pod, rails ? "unit" : "leaf switch", rails ? "s" : "es") +
                "; out of it " + rate_text(totals_.pod_out_bytes_per_s));
        }
        notes.push_back("A packet passes at most " + counted(totals_.diameter_switches, "switch", "es"));
        return notes;
    }

    Svg& svg_;
    const network::FabricGraph& graph_;
    const network::FabricTotals& totals_;
    DrawingArea area_;
    network::TreeShape shape_;
    int pods_ = 1;
    double pod_width_ = 0;
    std::size_t most_ = 12;
    Places places_;
    std::vector<Box> boxes_;
};

}  // namespace

double draw_network(Svg& svg, const network::FabricGraph& graph, const network::FabricTotals& totals,
                    DrawingArea area) {
    if (graph.machine().fabric.kind == models::FabricKind::kDragonfly) {
        return draw_dragonfly(svg, graph, totals, area);
    }
    return TreeDrawing(svg, graph, totals, area).draw();
}

}  // namespace auspex::report
