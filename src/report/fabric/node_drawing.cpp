/// @file The inside of a node: a row for each card; on its left what joins cards, on its right the way to the NICs.
#include <algorithm>
#include <vector>

#include "report/fabric/drawing_parts.hpp"
#include "report/parts/text.hpp"
#include "sim/network/node/nic_wire.hpp"
#include "sim/network/node/node_paths.hpp"

namespace auspex::report {
namespace {

constexpr int kMaxRows = 12, kMaxTilesInRow = 4, kMaxTilesBesideHost = 2;
constexpr double kRow = 38, kCardHeight = 30, kTileWidth = 44, kTileHeight = 20, kSocketGap = 18, kHead = 34;
constexpr double kBarWidth = 12, kCardLeft = 62, kLine = 15;
constexpr int kTileColor = 1, kNicColor = 2, kSocketColor = 10, kJoinColor = 4;

/// A socket's part of the picture, as high as its cards or its NICs need it.
struct SocketSpan {
    int first_nic = 0, nics = 0;
    double top = 0, bottom = 0;
};

double height_of_nics(int nics) { return nics * (kTileHeight + 3); }

/// What stands where; of a large node the first cards, tiles and NICs.
struct NodeLayout {
    int cards, rows, tiles;
    double left, top, card_left, card_width, bottom = 0;
    std::vector<double> row_top;  ///< [card]
    std::vector<SocketSpan> sockets;

    NodeLayout(const models::Node& node, DrawingArea area)
        : cards(std::max(1, node.tiles / node.tiles_per_card)),
          rows(std::min(cards, kMaxRows)),
          tiles(std::min(node.tiles_per_card, is_on_host(node) ? kMaxTilesBesideHost : kMaxTilesInRow)),
          left(area.left),
          top(area.top + kHead),
          card_left(area.left + kCardLeft),
          card_width(tiles * (kTileWidth + 4) + 8 + (tiles < node.tiles_per_card ? 16 : 0)) {
        if (is_on_host(node)) {
            place_by_socket(node);
        } else {
            for (int card = 0; card < rows; ++card) {
                row_top.push_back(top + card * kRow);
            }
            bottom = std::max(row_top.back() + kCardHeight, top + height_of_nics(std::min(node.nics, kMaxRows)));
        }
    }
    [[nodiscard]] static bool is_on_host(const models::Node& node) {
        return node.nic_attachment == models::NicAttachment::kHost;
    }
    [[nodiscard]] double middle(int card) const { return row_top[static_cast<std::size_t>(card)] + kCardHeight / 2; }
    [[nodiscard]] double card_right() const { return card_left + card_width; }

 private:
    void place_by_socket(const models::Node& node) {
        double y = top;
        for (int socket = 0, card = 0; socket < node.sockets && card < rows; ++socket) {
            SocketSpan span{.top = y};
            for (; card < rows && network::socket_of_card(node, card) == socket; ++card) {
                row_top.push_back(y);
                y += kRow;
            }
            for (int nic = node.nics - 1; nic >= 0; --nic) {
                if (network::socket_of_nic(node, nic) == socket) {
                    span.first_nic = nic;
                    span.nics = std::min(span.nics + 1, kMaxRows);
                }
            }
            span.bottom = std::max(y - kRow + kCardHeight, span.top + height_of_nics(span.nics));
            y = span.bottom + kSocketGap;
            sockets.push_back(span);
        }
        bottom = y - kSocketGap;
    }
};

void draw_cards(Svg& svg, const models::Node& node, const NodeLayout& at) {
    for (int card = 0; card < at.rows; ++card) {
        const double y = at.row_top[static_cast<std::size_t>(card)];
        svg.rect({at.card_left, y}, at.card_width, kCardHeight, "band", "card " + std::to_string(card));
        for (int i = 0; i < at.tiles; ++i) {
            const double x = at.card_left + 6 + i * (kTileWidth + 4);
            draw_box(svg, {x, y + 5}, kTileWidth, kTileHeight, kTileColor,
                     "tile " + std::to_string(card * node.tiles_per_card + i));
            if (i > 0) {
                svg.line({x - 4, y + 15}, {x, y + 15}, "bar v0");
            }
        }
        if (at.tiles < node.tiles_per_card) {
            svg.text({at.card_right() - 14, y + 19}, "…", "inside");
        }
    }
    svg.text({at.card_left, at.top - 10},
             at.cards == node.tiles ? "tiles" : "cards of " + counted(node.tiles_per_card, "tile"), "tick");
}

std::string scale_up_text(const models::Node& node) {
    return node.scale_up == models::ScaleUpKind::kSwitch
               ? "Node switch: " + rate_text(node.switch_bytes_per_s) + " a tile"
               : "Any two cards: " + links_text(node.mesh_links, node.mesh_bytes_per_s);
}

bool fits_upwards(const std::string& text, const NodeLayout& at) {
    constexpr double kLetter = 7.5;
    return kLetter * static_cast<double>(text.size()) <= at.bottom - at.top;
}

bool has_scale_up(const models::Node& node) {
    return node.tiles > (node.scale_up == models::ScaleUpKind::kSwitch ? 1 : node.tiles_per_card);
}

/// The links between cards as one bar: each pair has its own, but fifteen lines would show nothing.
void draw_scale_up(Svg& svg, const models::Node& node, const NodeLayout& at) {
    const bool is_switch = node.scale_up == models::ScaleUpKind::kSwitch;
    if (!has_scale_up(node)) {
        return;
    }
    const double x = at.left + 22;
    svg.rect({x, at.top}, kBarWidth, at.bottom - at.top, "segment l" + std::to_string(kJoinColor),
             is_switch ? "node switch" : "links of their own for any two cards");
    for (int card = 0; card < at.rows; ++card) {
        svg.line({x + kBarWidth, at.middle(card)}, {at.card_left, at.middle(card)}, "bar v0");
    }
    if (fits_upwards(scale_up_text(node), at)) {
        svg.text_upwards({at.left + 12, (at.top + at.bottom) / 2}, scale_up_text(node), "tick");
    }
    svg.text({at.left, at.bottom + kLine}, is_switch ? "node switch" : "links between all cards", "tick");
}

struct NicPlace {
    int nic;
    double middle;
};

/// The machine file's rate of a NIC, and that of its link where it is another.
void name_nics(Svg& svg, const models::Machine& machine, double right, double top) {
    const double nic = machine.node.nic_bytes_per_s, link = network::nic_wire_bytes_per_s(machine);
    if (nic == link) {
        svg.text({right, top - 10}, "NICs: " + rate_text(nic), "tick", "end");
        return;
    }
    svg.text({right, top - 10 - kLine}, "NICs: " + rate_text(nic) + " sustained", "tick", "end");
    svg.text({right, top - 10}, rate_text(link) + " link", "tick", "end");
}

void draw_nics(Svg& svg, const models::Machine& machine, double x, const std::vector<NicPlace>& nics, double top) {
    constexpr double kWidth = 50;
    for (const NicPlace& at : nics) {
        draw_box(svg, {x, at.middle - kTileHeight / 2}, kWidth, kTileHeight, kNicColor,
                 "NIC " + std::to_string(at.nic));
    }
    name_nics(svg, machine, x + kWidth, top);
}

/// `count` boxes one below the other in the middle of [top, bottom].
std::vector<double> spread(int count, double top, double bottom) {
    std::vector<double> middle;
    const double step = std::min(kRow, std::max(kTileHeight + 3, (bottom - top + kRow - kCardHeight) / count));
    for (int i = 0; i < count; ++i) {
        middle.push_back((top + bottom) / 2 + (i - 0.5 * (count - 1)) * step);
    }
    return middle;
}

/// Cards to their socket, the socket to the PCIe switch of its NICs, one box below the other at both ends.
void draw_host(Svg& svg, const models::Machine& machine, const NodeLayout& at, double right) {
    const models::Node& node = machine.node;
    constexpr double kSocketWidth = 62, kHubWidth = 8;
    const double socket_x = at.card_right() + 48, nic_x = right - 50, hub_x = nic_x - 26;
    std::vector<NicPlace> nics;
    for (std::size_t s = 0; s < at.sockets.size(); ++s) {
        const SocketSpan& span = at.sockets[s];
        const double y = (span.top + span.bottom) / 2, wire_x = socket_x + kSocketWidth;
        draw_box(svg, {socket_x, span.top}, kSocketWidth, span.bottom - span.top, kSocketColor,
                 "socket " + std::to_string(s));
        svg.line({wire_x, y}, {hub_x, y}, "axis");
        const std::vector<double> here = spread(span.nics, span.top, span.bottom);
        if (!here.empty()) {
            svg.rect({hub_x, here.front() - 10}, kHubWidth, here.back() - here.front() + 20, "segment l11",
                     "PCIe switch of the NICs of socket " + std::to_string(s));
        }
        int nic_number = span.first_nic;
        for (const double nic : here) {
            svg.line({hub_x + kHubWidth, nic}, {nic_x, nic}, "axis");
            nics.push_back({nic_number++, nic});
        }
    }
    for (int card = 0; card < at.rows; ++card) {
        svg.line({at.card_right(), at.middle(card)}, {socket_x, at.middle(card)}, "axis");
    }
    svg.text({socket_x + kSocketWidth, at.top - 10}, "PCIe " + rate_text(node.pcie_bytes_per_s), "tick", "end");
    draw_nics(svg, machine, nic_x, nics, at.top);
}

void draw_device_nics(Svg& svg, const models::Machine& machine, const NodeLayout& at, double right) {
    const models::Node& node = machine.node;
    const double nic_x = right - 50;
    const std::vector<double> middle = spread(std::min(node.nics, kMaxRows), at.top, at.bottom);
    for (int tile = 0; tile < at.rows * node.tiles_per_card; ++tile) {
        if (const auto nic = static_cast<std::size_t>(network::nic_of_tile(node, tile)); nic < middle.size()) {
            svg.line({at.card_right(), at.middle(tile / node.tiles_per_card)}, {nic_x, middle[nic]}, "axis");
        }
    }
    std::vector<NicPlace> nics;
    for (std::size_t nic = 0; nic < middle.size(); ++nic) {
        nics.push_back({static_cast<int>(nic), middle[nic]});
    }
    draw_nics(svg, machine, nic_x, nics, at.top);
}

std::vector<std::string> notes_on(const models::Node& node, const NodeLayout& at) {
    std::vector<std::string> notes;
    if (at.tiles < node.tiles_per_card || at.rows < at.cards || node.nics > kMaxRows) {
        notes.push_back("In all " + counted(at.cards, "card") + ", " + counted(node.tiles, "tile") + ", " +
                        counted(node.nics, "NIC"));
    }
    if (has_scale_up(node) && !fits_upwards(scale_up_text(node), at)) {
        notes.push_back(scale_up_text(node));
    }
    if (node.tiles_per_card > 1) {
        notes.push_back("Between the tiles of a card: " + rate_text(node.pair_bytes_per_s));
    }
    if (has_scale_up(node) && node.scale_up == models::ScaleUpKind::kMeshOfPairs && node.mesh_links > 1) {
        notes.emplace_back("Each link of two cards joins tiles of the same place on them");
    }
    if (node.nic_attachment == models::NicAttachment::kHost) {
        notes.push_back("Between a socket and its NICs: out " + rate_text(node.socket_out_bytes_per_s) + ", in " +
                        rate_text(node.socket_in_bytes_per_s));
    } else {
        notes.emplace_back("NICs hang on the device: the host carries nothing");
    }
    notes.emplace_back("Rates are of one direction");
    return notes;
}

}  // namespace

double draw_node(Svg& svg, const models::Machine& machine, DrawingArea area) {
    const models::Node& node = machine.node;
    const NodeLayout at(node, area);
    draw_scale_up(svg, node, at);
    if (node.nic_attachment == models::NicAttachment::kHost) {
        draw_host(svg, machine, at, area.left + area.width);
    } else {
        draw_device_nics(svg, machine, at, area.left + area.width);
    }
    draw_cards(svg, node, at);
    double y = at.bottom + (has_scale_up(node) ? 3 : 2) * kLine;
    for (const std::string& note : notes_on(node, at)) {
        svg.text({area.left, y}, note, "tick");
        y += kLine + 2;
    }
    return y - kLine;
}

}  // namespace auspex::report
