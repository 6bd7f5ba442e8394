/// @file Machine files: shipped ones load with their provenance; slips of unit, range, key or consistency are refused
/// by path.
#include "models/machine.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::models {
namespace {

JsonDocument open_machine(const std::string& name) {
    return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/" + name + ".json");
}

/// The message with which a changed machine is refused; empty when it loads.
std::string refusal(JsonDocument document, const std::string& path, const std::string& value) {
    document.set(path, value);
    try {
        static_cast<void>(load_machine(document));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

void expect_refused(const std::string& machine, const std::string& path, const std::string& value,
                    const std::string& expected) {
    const std::string message = refusal(open_machine(machine), path, value);
    EXPECT_NE(message.find(expected), std::string::npos) << path << " = " << value << " gave: " << message;
    EXPECT_NE(message.find(machine + ".json: $"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(Machine, every_shipped_file_loads_with_a_source_for_every_constant) {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(AUSPEX_SOURCE_DIR) + "/machines")) {
        if (entry.path().extension() == ".json") {
            files.insert(entry.path().stem().string());
        }
    }
    for (const char* name : {"aurora", "dgx-a100", "dgx-h100", "frontier", "lumi", "mi300x"}) {
        EXPECT_TRUE(files.contains(name)) << name;
    }
    for (const std::string& file : files) {
        const Machine machine = load_machine(open_machine(file));
        EXPECT_EQ(machine.name, file);
        EXPECT_GE(machine.constants.size(), 25U);
        std::set<std::string> paths;
        for (const Constant& constant : machine.constants) {
            EXPECT_TRUE(constant.path.starts_with("machine.")) << constant.path;
            EXPECT_TRUE(paths.insert(constant.path).second) << constant.path << " read twice";
            EXPECT_FALSE(constant.source.empty()) << file << " " << constant.path;
        }
    }
}

TEST(Machine, aurora_injects_through_84992_nics_and_its_global_links_carry_1370_terabytes_per_second) {
    const Machine aurora = load_machine(open_machine("aurora"));
    // 166 groups * 64 nodes * 8 NICs = 84,992, as ALCF counts them.
    EXPECT_EQ(aurora.fabric.groups * aurora.fabric.nodes_per_group * aurora.node.nics, 84'992);
    EXPECT_EQ(aurora.fabric.max_nodes * aurora.node.tiles, 127'488);
    // C(166, 2) = 13,695 pairs * 2 links * 50 GB/s in both directions = 1.3695 PB/s; ALCF says 1.38.
    const double pairs = aurora.fabric.groups * (aurora.fabric.groups - 1) / 2.0;
    EXPECT_DOUBLE_EQ(pairs * aurora.fabric.global_links * 2 * aurora.fabric.link_bytes_per_s, 1.3695e15);
    // Links of a switch: 31 to its group; of a group: 165 * 2 to the others, 8.25 TB/s of 12.8 TB/s injected.
    EXPECT_DOUBLE_EQ((aurora.fabric.groups - 1) * aurora.fabric.global_links * aurora.fabric.link_bytes_per_s, 8.25e12);
}

TEST(Machine, frontier_global_bandwidth_is_540_terabytes_per_second) {
    const Machine frontier = load_machine(open_machine("frontier"));
    // C(74, 2) = 2,701 pairs * 4 links * 50 GB/s in both directions = 540 TB/s; published as 270 + 270.
    EXPECT_DOUBLE_EQ(frontier.fabric.groups * (frontier.fabric.groups - 1) / 2.0 * frontier.fabric.global_links * 2 *
                         frontier.fabric.link_bytes_per_s,
                     540.2e12);
}

TEST(Machine, lumi_global_bandwidth_is_276_terabytes_per_second_and_its_taper_093) {
    const Machine lumi = load_machine(open_machine("lumi"));
    const double links = lumi.fabric.groups * (lumi.fabric.groups - 1) / 2.0 * lumi.fabric.global_links;
    // C(24, 2) = 276 pairs * 20 links * 50 GB/s in both directions = 276 TB/s, as its user guide says.
    EXPECT_DOUBLE_EQ(links * 2 * lumi.fabric.link_bytes_per_s, 276e12);
    // Out of a group 23 * 20 links; its 124 nodes inject by 4 NICs each.
    EXPECT_NEAR((lumi.fabric.groups - 1.0) * lumi.fabric.global_links / (lumi.fabric.nodes_per_group * lumi.node.nics),
                0.927, 0.001);
}

TEST(Machine, values_arrive_in_si_units) {
    const Machine aurora = load_machine(open_machine("aurora"));
    EXPECT_DOUBLE_EQ(aurora.tile.peak_bf16_flop_per_s, 298e12);
    EXPECT_DOUBLE_EQ(aurora.tile.hbm_bytes, 64.0 * 1024 * 1024 * 1024);
    EXPECT_DOUBLE_EQ(aurora.tile.kernel_launch_s, 3e-6);
    EXPECT_DOUBLE_EQ(aurora.node.nic_bytes_per_s, 23e9);
    EXPECT_DOUBLE_EQ(aurora.fabric.switch_latency_s, 350e-9);
    EXPECT_DOUBLE_EQ(aurora.noise.os_events_per_s, 10);
    EXPECT_DOUBLE_EQ(aurora.reliability.restart_s, 18 * 60);
    EXPECT_EQ(aurora.node.scale_up, ScaleUpKind::kMeshOfPairs);
    EXPECT_EQ(aurora.node.nic_attachment, NicAttachment::kHost);
    EXPECT_DOUBLE_EQ(aurora.node.host_memory_bytes_per_s, 500e9);
    EXPECT_EQ(aurora.fabric.kind, FabricKind::kDragonfly);
    EXPECT_EQ(aurora.fabric.routing, RoutingKind::kAdaptive);
    const Machine dgx = load_machine(open_machine("dgx-a100"));
    EXPECT_EQ(dgx.node.scale_up, ScaleUpKind::kSwitch);
    EXPECT_EQ(dgx.node.nic_attachment, NicAttachment::kDevice);
    EXPECT_EQ(dgx.fabric.kind, FabricKind::kRail);
    EXPECT_EQ(dgx.fabric.levels, 2);
    EXPECT_DOUBLE_EQ(dgx.fabric.taper, 1);
}

TEST(Machine, aurora_has_two_links_between_two_cards_and_sockets_faster_in_than_out) {
    const Machine aurora = load_machine(open_machine("aurora"));
    EXPECT_EQ(aurora.node.mesh_links, 2);
    EXPECT_DOUBLE_EQ(aurora.node.mesh_bytes_per_s, 15.5e9);
    // Device to host 257 GB/s a node, host to device 318 GB/s, over two sockets each.
    EXPECT_DOUBLE_EQ(aurora.node.socket_out_bytes_per_s, 128.5e9);
    EXPECT_DOUBLE_EQ(aurora.node.socket_in_bytes_per_s, 159e9);
    EXPECT_EQ(aurora.default_stack, "optimus");
    EXPECT_EQ(load_machine(open_machine("frontier")).node.mesh_links, 1);
    EXPECT_EQ(load_machine(open_machine("frontier")).default_stack, "");
}

/// The relative difference of two totals.
double difference(double built, double stated) { return built / stated - 1; }

TEST(Machine, recipes_give_the_stated_totals_within_two_percent) {
    const Machine aurora = load_machine(open_machine("aurora"));
    const FabricRecipe& fabric = aurora.fabric;
    const double nics = fabric.groups * fabric.nodes_per_group * aurora.node.nics;
    EXPECT_DOUBLE_EQ(fabric.stated.nics, nics);
    // injection = NICs * 25 GB/s; global = C(166, 2) * 2 links * 50 GB/s; bisection = 83 * 83 * 2 * 50 GB/s
    EXPECT_NEAR(difference(nics * fabric.link_bytes_per_s, fabric.stated.injection_bytes_per_s), 0, 0.02);
    EXPECT_NEAR(difference(1.3695e15, fabric.stated.global_bytes_per_s), 0, 0.02);
    EXPECT_NEAR(difference(83.0 * 83 * 2 * 50e9, fabric.stated.bisection_bytes_per_s), 0, 0.02);
    EXPECT_EQ(fabric.stated.switches, 0);  // the 5,600 of the source are those of more groups than the recipe has
    const Machine frontier = load_machine(open_machine("frontier"));
    EXPECT_NEAR(difference(540.2e12, frontier.fabric.stated.global_bytes_per_s), 0, 0.02);
    EXPECT_EQ(frontier.fabric.stated.nics, 0);
}

TEST(Machine, stated_totals_are_facts_and_no_constants) {
    for (const Constant& constant : load_machine(open_machine("aurora")).constants) {
        EXPECT_EQ(constant.path.find("stated"), std::string::npos) << constant.path;
    }
    expect_refused("aurora", "fabric.stated", R"({"cables": 1})", "cables");
    expect_refused("aurora", "fabric.stated", R"({"nics": 84992})", "an object with value, source and kind");
    expect_refused("aurora", "fabric.stated.nics", R"({"value": 84992, "kind": "specified"})",
                   "missing key \"source\"");
    expect_refused("aurora", "fabric.stated.nics", "84992.5", "a whole number");
    expect_refused("aurora", "fabric.stated.injection", "2120", "$.fabric.stated.injection");
    expect_refused("dgx-a100", "fabric.stated",
                   R"({"global": {"value": "1 PB/s", "source": "none", "kind": "assumed"}})", "$.fabric.stated.global");
    JsonDocument document = open_machine("dgx-a100");
    document.set("fabric.stated", R"({"switches": {"value": 850, "source": "a test", "kind": "assumed"}})");
    EXPECT_DOUBLE_EQ(load_machine(document).fabric.stated.switches, 850);
}

// A full mesh of 8 tiles is a mesh of 8 cards with one tile each.
TEST(Machine, a_full_mesh_is_a_mesh_of_cards_of_one_tile) {
    JsonDocument document = JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/aurora.json");
    document.set("node", R"({"tiles": 8, "tiles_per_card": 1, "sockets": 2, "scale_up": "full-mesh",
        "mesh_bandwidth": "64 GB/s", "scale_up_latency": "2 us", "pcie_bandwidth": "50 GB/s",
        "socket_bandwidth_out": "200 GB/s", "socket_bandwidth_in": "100 GB/s",
        "nic": {"count": 8, "bandwidth": "49 GB/s", "attachment": "device", "latency": "2 us"}})");
    const Machine machine = load_machine(document);
    EXPECT_EQ(machine.node.scale_up, ScaleUpKind::kMeshOfPairs);
    EXPECT_EQ(machine.node.mesh_links, 1);
    EXPECT_DOUBLE_EQ(machine.node.mesh_bytes_per_s, 64e9);
    EXPECT_NE(refusal(document, "node.mesh_links", "1").find("it belongs to \"mesh-of-pairs\""), std::string::npos);
    EXPECT_NE(refusal(document, "node.switch_bandwidth", "1 GB/s").find("mesh_bandwidth"), std::string::npos);
    expect_refused("aurora", "node.scale_up", "full-mesh", "where tiles_per_card is above 1");
}

TEST(Machine, trees_and_rails_have_two_levels_or_three_with_pods) {
    JsonDocument tree = open_machine("dgx-a100");
    tree.set("fabric.kind", "fat-tree");
    tree.set("fabric.routing", "minimal");
    EXPECT_EQ(load_machine(tree).fabric.kind, FabricKind::kFatTree);
    EXPECT_EQ(load_machine(tree).fabric.routing, RoutingKind::kMinimal);
    tree.set("fabric.levels", "3");
    tree.set("fabric.leaves_per_pod", "7");
    tree.set("fabric.pod_taper", "0.5");
    EXPECT_EQ(load_machine(tree).fabric.levels, 3);
    EXPECT_EQ(load_machine(tree).fabric.leaves_per_pod, 7);
    EXPECT_DOUBLE_EQ(load_machine(tree).fabric.pod_taper, 0.5);
    // Without levels and routing: two levels, adaptive.
    JsonDocument plain = open_machine("dgx-a100");
    plain.set("fabric", R"({"kind": "rail", "link_bandwidth": "25 GB/s", "switch_latency": "130 ns",
        "nodes_per_leaf": 20, "taper": 1, "max_nodes": 560})");
    EXPECT_EQ(load_machine(plain).fabric.levels, 2);
    EXPECT_EQ(load_machine(plain).fabric.routing, RoutingKind::kAdaptive);
    const Machine hopper = load_machine(open_machine("dgx-h100"));
    EXPECT_EQ(hopper.fabric.kind, FabricKind::kRail);
    EXPECT_EQ(hopper.fabric.levels, 3);
    EXPECT_EQ(hopper.fabric.nodes_per_leaf * hopper.fabric.leaves_per_pod * 16, hopper.fabric.max_nodes);

    expect_refused("dgx-a100", "fabric.levels", "4", "$.fabric.levels");
    expect_refused("dgx-a100", "fabric.levels", "3", "missing key \"leaves_per_pod\"");
    expect_refused("dgx-a100", "fabric.leaves_per_pod", "7", "it belongs to \"levels\": 3");
    expect_refused("dgx-a100", "fabric.pod_taper", "1", "it belongs to \"levels\": 3");
    expect_refused("dgx-h100", "fabric.levels", "2", "it belongs to \"levels\": 3");
    expect_refused("dgx-a100", "fabric.routing", "valiant", "\"minimal\", \"adaptive\"");
    expect_refused("aurora", "fabric.routing", "fastest", "\"valiant\"");
}

TEST(Machine, nodes_need_not_divide_evenly_over_switches) {
    JsonDocument document = open_machine("aurora");
    document.set("fabric.switches_per_group", "33");
    EXPECT_EQ(load_machine(document).fabric.switches_per_group, 33);
}

TEST(Machine, setting_a_value_on_the_command_line_replaces_it_and_its_provenance) {
    struct Change {
        std::string path, value;
        double expected;
    };
    const std::vector<Change> changes{{"node.nic.bandwidth", "20 GB/s", 20e9},
                                      {"fabric.detour_delay", "3 us", 3e-6},
                                      {"fabric.background_load", "0", 0},
                                      {"tile.speed_sigma", "0.01", 0.01}};
    JsonDocument document = open_machine("aurora");
    for (const Change& change : changes) {
        document.set(change.path, change.value);
    }
    const Machine machine = load_machine(document);
    EXPECT_DOUBLE_EQ(machine.node.nic_bytes_per_s, 20e9);
    EXPECT_DOUBLE_EQ(machine.fabric.detour_delay_s, 3e-6);
    EXPECT_DOUBLE_EQ(machine.fabric.background_load, 0);
    EXPECT_DOUBLE_EQ(machine.tile.speed_sigma, 0.01);
    for (const Change& change : changes) {
        bool found = false;
        for (const Constant& constant : machine.constants) {
            if (constant.path == "machine." + change.path) {
                found = true;
                EXPECT_DOUBLE_EQ(constant.value, change.expected);
                EXPECT_EQ(constant.kind, ConstantKind::kAssumed);
            }
        }
        EXPECT_TRUE(found) << change.path;
    }
}

TEST(Machine, parts_that_fail_are_read_by_name) {
    const Machine dgx = load_machine(open_machine("dgx-h100"));
    double rate = 0;  // of a node, in interruptions an hour
    for (const FailingPart& part : dgx.reliability.parts) {
        rate += 3600 / part.mtbf_s * (part.unit == FailureUnit::kTile ? dgx.node.tiles : 1);
    }
    EXPECT_NEAR(rate, 419 / (54 * 24.0 * 2048), 1e-3 * rate);
    const Machine aurora = load_machine(open_machine("aurora"));
    ASSERT_EQ(aurora.reliability.parts.size(), 3U);
    EXPECT_EQ(aurora.reliability.parts.front().name, "hang");
    EXPECT_DOUBLE_EQ(aurora.reliability.parts.front().silent, 1);
    EXPECT_DOUBLE_EQ(aurora.storage.stall_share, 0.25);
    EXPECT_TRUE(load_machine(open_machine("dgx-a100")).reliability.parts.empty());
    expect_refused("aurora", "reliability.components.node.per", "rack", "switch");
    expect_refused("aurora", "reliability.components.node.colour", "1", "colour");
    expect_refused("aurora", "reliability.components.hang.soft", "0.5", "1 together");
    expect_refused("aurora", "reliability.components.node.nodes", "-1", "$.reliability.components.node.nodes");
    expect_refused("aurora", "storage.stall_share", "2", "$.storage.stall_share");
}

TEST(Machine, every_constant_is_refused_when_negative_or_in_another_unit) {
    for (const std::string name : {"aurora", "dgx-a100", "dgx-h100"}) {
        const JsonDocument document = open_machine(name);
        for (const Constant& constant : load_machine(document).constants) {
            const std::string path = constant.path.substr(std::string("machine.").size());
            const bool plain = constant.dimension == Dimension::kNone;
            const std::string negative = plain ? "-1" : exact_quantity(-1, constant.dimension);
            const std::string wrong = plain ? "\"1 GB/s\"" : constant.dimension == Dimension::kWatts ? "1 s" : "1 W";
            for (const std::string& value : {negative, wrong, std::string("true"), std::string(plain ? "\"\"" : "5")}) {
                const std::string message = refusal(document, path, value);
                EXPECT_NE(message.find("$." + path), std::string::npos)
                    << path << " = " << value << " gave: " << message;
            }
        }
    }
}

TEST(Machine, every_missing_key_is_named) {
    // A section left with nothing but a comment misses its first key.
    for (const std::string section : {"tile", "node", "node.nic", "fabric", "noise", "storage", "reliability"}) {
        expect_refused("aurora", section, R"({"comment": "empty"})", "missing key");
        expect_refused("aurora", section, R"({"comment": "empty"})", "$." + section);
    }
    EXPECT_THROW(static_cast<void>(load_machine(JsonDocument::parse("{}", "empty"))), InputError);
    EXPECT_THROW(static_cast<void>(load_machine(JsonDocument::parse("[]", "list"))), InputError);
}

TEST(Machine, unknown_keys_are_refused_in_every_section) {
    for (const std::string path : {"colour", "tile.colour", "node.colour", "node.nic.colour", "fabric.colour",
                                   "fabric.stated.colour", "noise.colour", "storage.colour", "reliability.colour"}) {
        expect_refused("aurora", path, "1", "colour");
    }
}

TEST(Machine, absurd_values_are_refused_with_their_range) {
    expect_refused("aurora", "tile.hbm_bandwidth", "1 B/s", "$.tile.hbm_bandwidth");
    expect_refused("aurora", "node.nic.bandwidth", "1e9 PB/s", "$.node.nic.bandwidth");
    expect_refused("aurora", "node.nic.count", "0", "$.node.nic.count");
    expect_refused("aurora", "node.tiles", "12.5", "$.node.tiles");
    expect_refused("aurora", "tile.speed_worst", "1.2", "$.tile.speed_worst");
    expect_refused("aurora", "tile.reserved", "64 GiB", "less than hbm_capacity");
    expect_refused("aurora", "fabric.background_load", "1", "$.fabric.background_load");
    expect_refused("aurora", "noise.os_event_length", "0.2 s", "less than 1 / os_event_rate");
    expect_refused("aurora", "name", "\"\"", "$.name");
    expect_refused("aurora", "default_stack", "\"\"", "$.default_stack");
    expect_refused("aurora", "node.scale_up", "ring", "mesh-of-pairs");
    expect_refused("aurora", "node.nic.attachment", "both", "\"device\"");
    expect_refused("aurora", "node.nic.of_tile", "[0, 1]", "12 tiles");
    expect_refused("aurora", "node.nic.of_tile", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]", "7");
}

TEST(Machine, counts_must_divide_each_other) {
    expect_refused("aurora", "node.tiles_per_card", "5", "a divisor of tiles, 12");
    expect_refused("aurora", "node.sockets", "4", "a divisor of the number of cards");
    expect_refused("aurora", "node.mesh_links", "3", "1 or tiles_per_card, 2");
    expect_refused("aurora", "fabric.max_nodes", "10625", "at most groups * nodes_per_group, 10624");
    expect_refused("aurora", "fabric.groups", "100", "at most groups * nodes_per_group, 6400");
    expect_refused("aurora", "fabric.nodes_per_group", "100000", "$.fabric.groups");
}

TEST(Machine, keys_of_the_other_kind_of_fabric_or_node_are_refused) {
    expect_refused("aurora", "fabric.taper", "1", "it belongs to a fat tree or rails");
    expect_refused("aurora", "fabric.nodes_per_leaf", "20", "it belongs to a fat tree or rails");
    expect_refused("aurora", "fabric.levels", "2", "it belongs to a fat tree or rails");
    expect_refused("aurora", "node.switch_bandwidth", "300 GB/s", "mesh_bandwidth");
    expect_refused("dgx-a100", "fabric.groups", "4", "it belongs to a dragonfly");
    expect_refused("dgx-a100", "fabric.detour_delay", "1 us", "it belongs to a dragonfly");
    expect_refused("dgx-a100", "node.mesh_bandwidth", "31 GB/s", "switch_bandwidth");
    expect_refused("dgx-a100", "node.mesh_links", "1", "it belongs to \"mesh-of-pairs\"");
    expect_refused("aurora", "node.socket_bandwidth", "128 GB/s", "socket_bandwidth_out");
    expect_refused("dgx-a100", "node.pair_bandwidth", "185 GB/s", "where tiles_per_card is 1");
    expect_refused("dgx-a100", "node.host_memory_bandwidth", "500 GB/s", "where nic.attachment is \"device\"");
    expect_refused("dgx-a100", "node.nic.attachment", "host", "missing key \"host_memory_bandwidth\"");
    expect_refused("aurora", "node.nic.attachment", "device", "where nic.attachment is \"device\"");
}

}  // namespace
}  // namespace auspex::models
