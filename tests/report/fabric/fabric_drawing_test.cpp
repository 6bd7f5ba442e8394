/// @file The picture of a machine: nothing written over anything else, and a small network drawn whole.
#include "report/fabric/fabric_drawing.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "base/json.hpp"
#include "models/machine.hpp"

namespace auspex::report {
namespace {

using Overrides = std::vector<std::pair<std::string, std::string>>;

std::string drawing_of(const std::string& name, const Overrides& overrides = {}) {
    JsonDocument document = JsonDocument::load("machines/" + name + ".json");
    for (const auto& [path, value] : overrides) {
        document.set(path, value);
    }
    const network::FabricGraph graph(models::load_machine(document));
    return fabric_drawing(graph, totals_of(graph));
}

struct WrittenText {
    std::string content;
    double left, right, y;
};

/// Level texts, their widths by the mean width of a letter at their size (13 px, 12 px inside boxes).
std::vector<WrittenText> texts_of(const std::string& svg) {
    static const std::regex kText(
        R"re(<text x="([0-9.-]+)" y="([0-9.-]+)" class="([^"]*)" text-anchor="(\w+)">([^<]*)</text>)re");
    std::vector<WrittenText> texts;
    for (std::sregex_iterator at(svg.begin(), svg.end(), kText), end; at != end; ++at) {
        const std::string content = (*at)[5], anchor = (*at)[4];
        const auto letters = static_cast<double>(
            std::count_if(content.begin(), content.end(), [](char c) { return (c & 0xC0) != 0x80; }));
        const double width = letters * ((*at)[3].str().starts_with("inside") ? 6.3 : 7.0);
        const double x = std::stod((*at)[1]);
        const double left = anchor == "start" ? x : anchor == "end" ? x - width : x - width / 2;
        texts.push_back({content, left, left + width, std::stod((*at)[2])});
    }
    return texts;
}

std::size_t count_of(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        ++count;
    }
    return count;
}

/// Small dragonfly of 5 groups of 4 switches.
const Overrides kSmall{{"fabric.groups", "5"},
                       {"fabric.switches_per_group", "4"},
                       {"fabric.nodes_per_group", "8"},
                       {"fabric.max_nodes", "40"}};

TEST(FabricDrawing, no_text_stands_on_another_or_beyond_the_edge) {
    const Overrides many_parts{{"node.tiles", "96"},     {"node.tiles_per_card", "4"}, {"node.sockets", "4"},
                               {"node.nic.count", "32"}, {"node.mesh_links", "4"},     {"fabric.max_nodes", "64"}};
    const Overrides few_parts{{"node.tiles", "2"}, {"node.sockets", "1"}, {"node.nic.count", "1"}};
    const Overrides tree{{"fabric.kind", "\"fat-tree\""}};
    for (const std::string& svg :
         {drawing_of("aurora"), drawing_of("frontier"), drawing_of("dgx-a100"), drawing_of("dgx-h100"),
          drawing_of("aurora", kSmall), drawing_of("aurora", many_parts), drawing_of("aurora", few_parts),
          drawing_of("dgx-h100", tree), drawing_of("dgx-h100", {{"fabric.max_nodes", "100"}})}) {
        const std::vector<WrittenText> texts = texts_of(svg);
        EXPECT_GT(texts.size(), 15U);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            EXPECT_GE(texts[i].left, 0) << texts[i].content;
            EXPECT_LE(texts[i].right, 962) << texts[i].content;
            for (std::size_t k = 0; k < i; ++k) {
                const bool apart = texts[i].right <= texts[k].left || texts[k].right <= texts[i].left ||
                                   std::abs(texts[i].y - texts[k].y) >= 12;
                EXPECT_TRUE(apart) << texts[i].content << " | " << texts[k].content;
            }
        }
    }
}

// 5 groups x C(4, 2) local links are blue; C(5, 2) pairs of groups x 2 links, of which the two of a pair may join the
// same switches and are then one line.
TEST(FabricDrawing, a_small_dragonfly_has_all_its_switches_and_links) {
    const std::string svg = drawing_of("aurora", kSmall);
    EXPECT_EQ(count_of(svg, "<circle"), 20U);
    const std::size_t global = count_of(svg, "class=\"curve v1\"");
    EXPECT_GE(global, 10U);
    EXPECT_LE(global, 20U);
    const std::string bare = drawing_of("aurora", {{"fabric.groups", "1"},
                                                   {"fabric.switches_per_group", "4"},
                                                   {"fabric.nodes_per_group", "8"},
                                                   {"fabric.max_nodes", "8"}});
    EXPECT_EQ(count_of(svg, "class=\"bar v0\"") - count_of(bare, "class=\"bar v0\""), 4U * 6);
}

TEST(FabricDrawing, rates_of_the_machine_file_are_written) {
    const std::string svg = drawing_of("aurora");
    for (const char* text : {"PCIe 54 GB/s", "NICs: 23 GB/s sustained", "25 GB/s link", "links between all cards",
                             "Between the tiles of a card: 185 GB/s", "Any two groups: 2 links of 25 GB/s", "159 more",
                             "tile 11", "NIC 7", "socket 1"}) {
        EXPECT_NE(svg.find(text), std::string::npos) << text;
    }
}

TEST(FabricDrawing, one_node_is_called_one_node) {
    EXPECT_NE(drawing_of("dgx-h100", {{"fabric.max_nodes", "1"}}).find(">One node of dgx-h100<"), std::string::npos);
}

TEST(FabricDrawing, links_of_trees_end_at_the_edges_of_their_boxes) {
    static const std::regex kBox(R"re(<rect x="([0-9.-]+)" y="([0-9.-]+)" width="([0-9.-]+)" height="([0-9.-]+)")re");
    static const std::regex kLink(
        R"re(<line x1="([0-9.-]+)" y1="([0-9.-]+)" x2="([0-9.-]+)" y2="([0-9.-]+)" class="(?:bar v0|curve v1)")re");
    constexpr double kNetworkLeft = 490;
    const std::string svg = drawing_of("dgx-h100", {{"fabric.max_nodes", "1"}});
    int links = 0;
    for (std::sregex_iterator link(svg.begin(), svg.end(), kLink), end; link != end; ++link) {
        if (std::stod((*link)[1]) < kNetworkLeft) {
            continue;
        }
        ++links;
        for (std::sregex_iterator box(svg.begin(), svg.end(), kBox); box != end; ++box) {
            const double top = std::stod((*box)[2]), bottom = top + std::stod((*box)[4]);
            const double left = std::stod((*box)[1]), right = left + std::stod((*box)[3]);
            for (const int point : {1, 3}) {
                const double x = std::stod((*link)[static_cast<std::size_t>(point)]);
                const double y = std::stod((*link)[static_cast<std::size_t>(point) + 1]);
                EXPECT_FALSE(x > left && x < right && y > top + 0.1 && y < bottom - 0.1) << x << ", " << y;
            }
        }
    }
    EXPECT_GT(links, 20);
}

// 8.25 TB/s out of a group over 64 x 8 x 25 GB/s; with taper 0.003 a whole percentage would be 0.
TEST(FabricDrawing, small_tapers_keep_their_digits) {
    EXPECT_NE(drawing_of("aurora").find("64.5 % of what"), std::string::npos);
    const std::string thin = drawing_of("dgx-h100", {{"fabric.taper.value", "0.04"}});
    EXPECT_NE(thin.find("4.00 % of what"), std::string::npos);
}

}  // namespace
}  // namespace auspex::report
