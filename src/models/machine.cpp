/// @file Reads machines/*.json: tile, node, fabric, noise, storage, reliability, and checks that they fit together.
#include "models/machine.hpp"

#include <cstdint>

namespace auspex {
namespace {

// Ranges refuse slips of a unit or a power of ten; every one is far wider than any machine built.
constexpr double kLeastFlop = 1e6, kMostFlop = 1e18;
constexpr double kLeastRate = 1e5, kMostRate = 1e16;
constexpr double kLeastCapacity = 1e6, kMostCapacity = 1e15;
constexpr double kMostLatency = 1.0;
constexpr double kLeastFraction = 0.01;
constexpr std::int64_t kMostNodes = 1'000'000;
constexpr std::int64_t kMostTiles = 1024;

constexpr const char* kRole = "machine";

/// Reads the sourced constants of one section of the file.
class Section {
 public:
    Section(JsonValue value, std::vector<Constant>& constants) : value_(std::move(value)), constants_(constants) {}

    [[nodiscard]] const JsonValue& value() const { return value_; }
    [[nodiscard]] double quantity(std::string_view key, Dimension dimension, double low, double high) {
        return read_constant(value_, key, dimension, low, high, kRole, constants_);
    }
    [[nodiscard]] double flop_rate(std::string_view key) {
        return quantity(key, Dimension::kFlopPerSecond, kLeastFlop, kMostFlop);
    }
    [[nodiscard]] double byte_rate(std::string_view key) {
        return quantity(key, Dimension::kBytesPerSecond, kLeastRate, kMostRate);
    }
    [[nodiscard]] double latency(std::string_view key) { return quantity(key, Dimension::kSeconds, 0, kMostLatency); }
    [[nodiscard]] double number(std::string_view key, double low, double high) {
        return quantity(key, Dimension::kNone, low, high);
    }
    [[nodiscard]] int count(std::string_view key, std::int64_t high) const {
        return static_cast<int>(value_.at(key).as_integer(1, high));
    }

 private:
    JsonValue value_;
    std::vector<Constant>& constants_;
};

std::string read_text(const JsonValue& parent, std::string_view key) {
    const JsonValue value = parent.at(key);
    std::string text = value.as_string();
    if (text.empty()) {
        value.fail("a text that is not empty");
    }
    return text;
}

/// A key that means nothing beside the choice made elsewhere would be read by nobody: refused.
void forbid(const JsonValue& section, std::initializer_list<std::string_view> keys, const std::string& why) {
    for (const std::string_view key : keys) {
        if (const auto value = section.find(key)) {
            value->fail("no such key " + why);
        }
    }
}

void read_tile(Section in, Tile& tile) {
    in.value().allow_only({"name",
                           "peak_bf16",
                           "gemm_bf16",
                           "gemm_fp32",
                           "vector_fp32",
                           "hbm_bandwidth",
                           "hbm_capacity",
                           "reserved",
                           "cores",
                           "gemm_tile_m",
                           "gemm_tile_n",
                           "gemm_half_depth",
                           "gemm_small_block",
                           "gemm_ceiling",
                           "attention_efficiency",
                           "memory_efficiency",
                           "kernel_launch",
                           "speed_sigma",
                           "speed_worst",
                           "collective_compute_share"});
    tile.name = read_text(in.value(), "name");
    tile.peak_bf16_flop_per_s = in.flop_rate("peak_bf16");
    tile.gemm_bf16_flop_per_s = in.flop_rate("gemm_bf16");
    tile.gemm_fp32_flop_per_s = in.flop_rate("gemm_fp32");
    tile.vector_fp32_flop_per_s = in.flop_rate("vector_fp32");
    tile.hbm_bytes_per_s = in.byte_rate("hbm_bandwidth");
    tile.hbm_bytes = in.quantity("hbm_capacity", Dimension::kBytes, kLeastCapacity, kMostCapacity);
    tile.reserved_bytes = in.quantity("reserved", Dimension::kBytes, 0, kMostCapacity);
    tile.cores = in.count("cores", 100'000);
    tile.gemm_tile_m = in.count("gemm_tile_m", 65'536);
    tile.gemm_tile_n = in.count("gemm_tile_n", 65'536);
    tile.gemm_half_depth = in.number("gemm_half_depth", 0, 65'536);
    tile.gemm_small_block = in.number("gemm_small_block", kLeastFraction, 1);
    tile.gemm_ceiling = in.number("gemm_ceiling", kLeastFraction, 1);
    tile.attention_efficiency = in.number("attention_efficiency", kLeastFraction, 1);
    tile.memory_efficiency = in.number("memory_efficiency", kLeastFraction, 1);
    tile.kernel_launch_s = in.latency("kernel_launch");
    tile.speed_sigma = in.number("speed_sigma", 0, 0.5);
    tile.speed_worst = in.number("speed_worst", kLeastFraction, 1);
    tile.collective_compute_share = in.number("collective_compute_share", 0, 0.9);
    if (tile.reserved_bytes >= tile.hbm_bytes) {
        in.value().at("reserved").fail("less than hbm_capacity, " + format_quantity(tile.hbm_bytes, Dimension::kBytes));
    }
}

void read_nic(Section in, Node& node) {
    in.value().allow_only({"count", "bandwidth", "attachment", "latency"});
    node.nics = in.count("count", 1024);
    node.nic_bytes_per_s = in.byte_rate("bandwidth");
    node.nic_attachment =
        in.value().at("attachment").as_one_of({"host", "device"}) == 0 ? NicAttachment::kHost : NicAttachment::kDevice;
    node.nic_latency_s = in.latency("latency");
}

void read_scale_up(Section& in, Node& node) {
    node.scale_up = in.value().at("scale_up").as_one_of({"mesh-of-pairs", "switch"}) == 0 ? ScaleUpKind::kMeshOfPairs
                                                                                          : ScaleUpKind::kSwitch;
    if (node.tiles_per_card > 1) {
        node.pair_bytes_per_s = in.byte_rate("pair_bandwidth");
    } else {
        forbid(in.value(), {"pair_bandwidth"}, "where tiles_per_card is 1");
    }
    if (node.scale_up == ScaleUpKind::kMeshOfPairs) {
        forbid(in.value(), {"switch_bandwidth"}, "with \"scale_up\": \"mesh-of-pairs\"; its key is mesh_bandwidth");
        node.mesh_bytes_per_s = in.byte_rate("mesh_bandwidth");
    } else {
        forbid(in.value(), {"mesh_bandwidth"}, "with \"scale_up\": \"switch\"; its key is switch_bandwidth");
        node.switch_bytes_per_s = in.byte_rate("switch_bandwidth");
    }
    node.scale_up_latency_s = in.latency("scale_up_latency");
}

void read_node(Section in, Node& node, std::vector<Constant>& constants) {
    in.value().allow_only({"tiles", "tiles_per_card", "sockets", "scale_up", "pair_bandwidth", "mesh_bandwidth",
                           "switch_bandwidth", "scale_up_latency", "pcie_bandwidth", "socket_bandwidth", "nic"});
    node.tiles = in.count("tiles", kMostTiles);
    node.tiles_per_card = in.count("tiles_per_card", kMostTiles);
    node.sockets = in.count("sockets", kMostTiles);
    if (node.tiles % node.tiles_per_card != 0) {
        in.value().at("tiles_per_card").fail("a divisor of tiles, " + std::to_string(node.tiles));
    }
    const int cards = node.tiles / node.tiles_per_card;
    if (cards % node.sockets != 0) {
        in.value().at("sockets").fail("a divisor of the number of cards (tiles / tiles_per_card), " +
                                      std::to_string(cards));
    }
    read_scale_up(in, node);
    node.pcie_bytes_per_s = in.byte_rate("pcie_bandwidth");
    node.socket_bytes_per_s = in.byte_rate("socket_bandwidth");
    read_nic(Section(in.value().at("nic"), constants), node);
}

void read_dragonfly(Section& in, FabricRecipe& fabric) {
    forbid(in.value(), {"nodes_per_leaf", "taper"}, "with \"kind\": \"dragonfly\"; it belongs to a fat tree");
    fabric.groups = in.count("groups", 100'000);
    fabric.nodes_per_group = in.count("nodes_per_group", 100'000);
    fabric.switches_per_group = in.count("switches_per_group", 10'000);
    fabric.local_links = in.count("local_links", 1000);
    fabric.global_links = in.count("global_links", 10'000);
    constexpr RoutingKind kRoutings[] = {RoutingKind::kMinimal, RoutingKind::kValiant, RoutingKind::kAdaptive};
    fabric.routing = kRoutings[in.value().at("routing").as_one_of({"minimal", "valiant", "adaptive"})];
    fabric.minimal_bias = in.number("minimal_bias", 0, 1);
    fabric.background_load = in.number("background_load", 0, 0.95);
    const std::int64_t nodes = std::int64_t{fabric.groups} * fabric.nodes_per_group;
    if (nodes > kMostNodes) {
        in.value().at("groups").fail("groups * nodes_per_group of at most " + std::to_string(kMostNodes));
    }
    if (fabric.max_nodes > nodes) {
        in.value().at("max_nodes").fail("at most groups * nodes_per_group, " + std::to_string(nodes));
    }
    if (fabric.nodes_per_group % fabric.switches_per_group != 0) {
        in.value()
            .at("switches_per_group")
            .fail("a divisor of nodes_per_group, " + std::to_string(fabric.nodes_per_group));
    }
}

void read_fat_tree(Section& in, FabricRecipe& fabric) {
    forbid(in.value(),
           {"groups", "nodes_per_group", "switches_per_group", "local_links", "global_links", "routing", "minimal_bias",
            "background_load"},
           "with \"kind\": \"fat-tree\"; it belongs to a dragonfly");
    fabric.nodes_per_leaf = in.count("nodes_per_leaf", 10'000);
    fabric.taper = in.number("taper", kLeastFraction, 1);
}

void read_fabric(Section in, FabricRecipe& fabric) {
    in.value().allow_only({"kind", "link_bandwidth", "switch_latency", "groups", "nodes_per_group",
                           "switches_per_group", "local_links", "global_links", "nodes_per_leaf", "taper", "max_nodes",
                           "routing", "minimal_bias", "background_load"});
    fabric.kind =
        in.value().at("kind").as_one_of({"dragonfly", "fat-tree"}) == 0 ? FabricKind::kDragonfly : FabricKind::kFatTree;
    fabric.link_bytes_per_s = in.byte_rate("link_bandwidth");
    fabric.switch_latency_s = in.latency("switch_latency");
    fabric.max_nodes = in.count("max_nodes", kMostNodes);
    if (fabric.kind == FabricKind::kDragonfly) {
        read_dragonfly(in, fabric);
    } else {
        read_fat_tree(in, fabric);
    }
}

void read_noise(Section in, Noise& noise) {
    in.value().allow_only({"os_event_rate", "os_event_length", "network_jitter"});
    noise.os_events_per_s = in.quantity("os_event_rate", Dimension::kPerSecond, 0, 1e6);
    noise.os_event_s = in.latency("os_event_length");
    if (noise.os_events_per_s * noise.os_event_s >= 1) {
        in.value().at("os_event_length").fail("less than 1 / os_event_rate: a rank cannot be interrupted all the time");
    }
    noise.network_jitter = in.number("network_jitter", 0, 1);
}

void read_storage(Section in, Storage& storage) {
    in.value().allow_only({"write_bandwidth", "read_bandwidth"});
    storage.write_bytes_per_s = in.byte_rate("write_bandwidth");
    storage.read_bytes_per_s = in.byte_rate("read_bandwidth");
}

void read_reliability(Section in, Reliability& reliability) {
    in.value().allow_only({"node_mtbf", "restart"});
    reliability.node_mtbf_s = in.quantity("node_mtbf", Dimension::kSeconds, 60, 1e12);
    reliability.restart_s = in.quantity("restart", Dimension::kSeconds, 0, 1e6);
}

}  // namespace

Machine load_machine(const JsonDocument& document) {
    const JsonValue root = document.root();
    root.allow_only({"name", "description", "tile", "node", "fabric", "noise", "storage", "reliability"});
    Machine machine;
    machine.file = document.name();
    machine.name = read_text(root, "name");
    if (root.find("description")) {
        static_cast<void>(read_text(root, "description"));
    }
    read_tile(Section(root.at("tile"), machine.constants), machine.tile);
    read_node(Section(root.at("node"), machine.constants), machine.node, machine.constants);
    read_fabric(Section(root.at("fabric"), machine.constants), machine.fabric);
    read_noise(Section(root.at("noise"), machine.constants), machine.noise);
    read_storage(Section(root.at("storage"), machine.constants), machine.storage);
    read_reliability(Section(root.at("reliability"), machine.constants), machine.reliability);
    return machine;
}

}  // namespace auspex
