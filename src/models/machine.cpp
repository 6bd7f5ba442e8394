/// @file Reads machines/*.json: tile, node, fabric, noise, storage, reliability, start, host, and checks that they are
/// consistent.
#include "models/machine.hpp"

#include <cmath>
#include <cstdint>

#include "base/json.hpp"
#include "models/cpu/cpu_section.hpp"
#include "models/jobs/launch_settings.hpp"

namespace auspex::models {
namespace {

// Ranges refuse slips of a unit or a power of ten; every one is far wider than any machine built.
constexpr double kMinFlop = 1e6, kMaxFlop = 1e18;
constexpr double kMinRate = 1e5, kMaxRate = 1e16;
constexpr double kMinCapacity = 1e6, kMaxCapacity = 1e15;
constexpr double kMaxLatency = 1.0;
constexpr double kMinFraction = 0.01;
constexpr std::int64_t kMaxNodes = 1'000'000;
constexpr std::int64_t kMaxTiles = 1024;
constexpr double kMaxTotal = 1e18;  // of a whole machine, in bytes/s or pieces

constexpr const char* kRole = "machine";

/// Reads the sourced constants of one section of the file.
class Section {
 public:
    Section(JsonValue value, std::vector<Constant>& constants) : value_(std::move(value)), constants_(constants) {}

    [[nodiscard]] const JsonValue& value() const { return value_; }
    [[nodiscard]] std::vector<Constant>& constants() const { return constants_; }
    [[nodiscard]] double quantity(std::string_view key, Dimension dimension, double low, double high) {
        return read_constant(value_, key, dimension, low, high, kRole, constants_);
    }
    [[nodiscard]] double flop_rate(std::string_view key) {
        return quantity(key, Dimension::kFlopPerSecond, kMinFlop, kMaxFlop);
    }
    [[nodiscard]] double byte_rate(std::string_view key) {
        return quantity(key, Dimension::kBytesPerSecond, kMinRate, kMaxRate);
    }
    [[nodiscard]] double latency(std::string_view key) { return quantity(key, Dimension::kSeconds, 0, kMaxLatency); }
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
                           "architecture",
                           "peak_bf16",
                           "gemm_bf16",
                           "gemm_fp32",
                           "gemm_fp8",
                           "gemm_fp8_blocks",
                           "gemm_nvfp4",
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
                           "attention_kernels",
                           "attention_efficiency",
                           "attention_half_sequence",
                           "attention_half_head",
                           "memory_efficiency",
                           "kernel_launch",
                           "speed_sigma",
                           "speed_worst",
                           "collective_compute_share",
                           "host_copy_compute_share"});
    tile.name = read_text(in.value(), "name");
    if (const auto architecture = in.value().find("architecture")) {
        tile.architecture = kArchitectures.at(architecture->as_one_of(kArchitectures));
    }
    tile.peak_bf16_flop_per_s = in.flop_rate("peak_bf16");
    tile.gemm_bf16_flop_per_s = in.flop_rate("gemm_bf16");
    tile.gemm_fp32_flop_per_s = in.flop_rate("gemm_fp32");
    for (auto [key, rate] : {std::pair("gemm_fp8", &tile.gemm_fp8_flop_per_s),
                             {"gemm_fp8_blocks", &tile.gemm_fp8_blocks_flop_per_s},
                             {"gemm_nvfp4", &tile.gemm_nvfp4_flop_per_s}}) {
        *rate = in.value().find(key) ? in.flop_rate(key) : 0;
    }
    tile.vector_fp32_flop_per_s = in.flop_rate("vector_fp32");
    tile.hbm_bytes_per_s = in.byte_rate("hbm_bandwidth");
    tile.hbm_bytes = in.quantity("hbm_capacity", Dimension::kBytes, kMinCapacity, kMaxCapacity);
    tile.reserved_bytes = in.quantity("reserved", Dimension::kBytes, 0, kMaxCapacity);
    tile.cores = in.count("cores", 100'000);
    tile.gemm_tile_m = in.count("gemm_tile_m", 65'536);
    tile.gemm_tile_n = in.count("gemm_tile_n", 65'536);
    tile.gemm_half_depth = in.number("gemm_half_depth", 0, 65'536);
    tile.gemm_small_block = in.number("gemm_small_block", kMinFraction, 1);
    tile.gemm_ceiling = in.number("gemm_ceiling", kMinFraction, 1);
    tile.attention_kernels = read_attention_kernels(in.value(), in.constants());
    tile.memory_efficiency = in.number("memory_efficiency", kMinFraction, 1);
    tile.kernel_launch_s = in.latency("kernel_launch");
    tile.speed_sigma = in.number("speed_sigma", 0, 0.5);
    tile.speed_worst = in.number("speed_worst", kMinFraction, 1);
    tile.collective_compute_share = in.number("collective_compute_share", 0, 0.9);
    if (in.value().find("host_copy_compute_share")) {
        tile.host_copy_compute_share = in.number("host_copy_compute_share", 0, 0.9);
    }
    if (tile.reserved_bytes >= tile.hbm_bytes) {
        in.value().at("reserved").fail("less than hbm_capacity, " + format_quantity(tile.hbm_bytes, Dimension::kBytes));
    }
}

void read_nic(Section in, Node& node) {
    in.value().allow_only({"count", "bandwidth", "attachment", "latency", "of_tile"});
    node.nics = in.count("count", 1024);
    node.nic_bytes_per_s = in.byte_rate("bandwidth");
    node.nic_latency_s = in.latency("latency");
    if (const auto list = in.value().find("of_tile")) {
        for (const JsonValue& nic : list->elements()) {
            node.nic_of_tile.push_back(static_cast<int>(nic.as_integer(0, node.nics - 1)));
        }
        if (node.nic_of_tile.size() != static_cast<std::size_t>(node.tiles)) {
            list->fail("a NIC for each of the " + std::to_string(node.tiles) + " tiles");
        }
    }
}

/// What both directions of a link carry together; 0 where the file does not say.
double read_both_ways(Section& in, const char* key) { return in.value().find(key) ? in.byte_rate(key) : 0; }

void read_mesh(Section& in, Node& node, bool of_pairs) {
    forbid(in.value(), {"switch_bandwidth"}, "without \"scale_up\": \"switch\"; its key is mesh_bandwidth");
    node.mesh_bytes_per_s = in.byte_rate("mesh_bandwidth");
    node.mesh_both_bytes_per_s = read_both_ways(in, "mesh_bandwidth_both_ways");
    if (!of_pairs) {
        forbid(in.value(), {"mesh_links"}, "with \"scale_up\": \"full-mesh\"; it belongs to \"mesh-of-pairs\"");
    } else if (const auto links = in.value().find("mesh_links")) {
        node.mesh_links = static_cast<int>(links->as_integer(1, kMaxTiles));
        if (node.mesh_links != 1 && node.mesh_links != node.tiles_per_card) {
            links->fail("1 or tiles_per_card, " + std::to_string(node.tiles_per_card));
        }
    }
}

void read_scale_up(Section& in, Node& node) {
    const JsonValue scale_up = in.value().at("scale_up");
    const std::size_t word = scale_up.as_one_of({"mesh-of-pairs", "full-mesh", "switch"});
    if (word == 1 && node.tiles_per_card != 1) {
        scale_up.fail("\"mesh-of-pairs\" where tiles_per_card is above 1: a full mesh has cards of one tile");
    }
    if (node.tiles_per_card > 1) {
        node.pair_bytes_per_s = in.byte_rate("pair_bandwidth");
        node.pair_both_bytes_per_s = read_both_ways(in, "pair_bandwidth_both_ways");
    } else {
        forbid(in.value(), {"pair_bandwidth", "pair_bandwidth_both_ways"}, "where tiles_per_card is 1");
    }
    if (word == 2) {
        node.scale_up = ScaleUpKind::kSwitch;
        forbid(in.value(), {"mesh_bandwidth"}, "with \"scale_up\": \"switch\"; its key is switch_bandwidth");
        forbid(in.value(), {"mesh_links"}, "with \"scale_up\": \"switch\"; it belongs to \"mesh-of-pairs\"");
        forbid(in.value(), {"mesh_bandwidth_both_ways"}, "with \"scale_up\": \"switch\"; a port has both directions");
        node.switch_bytes_per_s = in.byte_rate("switch_bandwidth");
    } else {
        node.scale_up = ScaleUpKind::kMeshOfPairs;
        read_mesh(in, node, word == 0);
    }
    node.scale_up_latency_s = in.latency("scale_up_latency");
}

/// A total that somebody states; 0 when the file has none. No step depends on it, so it joins no list of constants.
double read_stated_total(const JsonValue& section, std::string_view key, Dimension dimension) {
    const auto total = section.find(key);
    if (!total) {
        return 0;
    }
    if (!total->is_object()) {
        total->fail("an object with value, source and kind: a stated total needs who states it");
    }
    std::vector<Constant> unused;
    const double value = read_constant(section, key, dimension, 1, kMaxTotal, kRole, unused);
    if (dimension == Dimension::kNone && value != std::floor(value)) {
        total->at("value").fail("a whole number");
    }
    return value;
}

void read_node(Section in, Node& node, std::vector<Constant>& constants) {
    in.value().allow_only({"tiles", "tiles_per_card", "sockets", "scale_up", "pair_bandwidth",
                           "pair_bandwidth_both_ways", "mesh_links", "mesh_bandwidth", "mesh_bandwidth_both_ways",
                           "switch_bandwidth", "scale_up_latency", "pcie_bandwidth", "pcie_bandwidth_both_ways",
                           "socket_bandwidth_out", "socket_bandwidth_in", "host_copy_latency", "host_memory",
                           "host_memory_bandwidth", "nic"});
    node.tiles = in.count("tiles", kMaxTiles);
    node.tiles_per_card = in.count("tiles_per_card", kMaxTiles);
    node.sockets = in.count("sockets", kMaxTiles);
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
    node.pcie_both_bytes_per_s = read_both_ways(in, "pcie_bandwidth_both_ways");
    node.socket_out_bytes_per_s = in.byte_rate("socket_bandwidth_out");
    node.socket_in_bytes_per_s = in.byte_rate("socket_bandwidth_in");
    node.host_copy_latency_s =
        in.value().find("host_copy_latency") ? in.latency("host_copy_latency") : node.scale_up_latency_s;
    node.host_memory_bytes = read_stated_total(in.value(), "host_memory", Dimension::kBytes);
    const Section nic(in.value().at("nic"), constants);
    if (nic.value().at("attachment").as_one_of({"host", "device"}) == 0) {
        node.nic_attachment = NicAttachment::kHost;
        node.host_memory_bytes_per_s = in.byte_rate("host_memory_bandwidth");
    } else {
        node.nic_attachment = NicAttachment::kDevice;
        forbid(in.value(), {"host_memory_bandwidth"}, "where nic.attachment is \"device\"");
    }
    read_nic(nic, node);
}

void read_dragonfly(Section& in, FabricRecipe& fabric) {
    forbid(in.value(), {"levels", "nodes_per_leaf", "leaves_per_pod", "taper", "pod_taper"},
           "with \"kind\": \"dragonfly\"; it belongs to a fat tree or rails");
    fabric.groups = in.count("groups", 100'000);
    fabric.nodes_per_group = in.count("nodes_per_group", 100'000);
    fabric.switches_per_group = in.count("switches_per_group", 10'000);
    fabric.local_links = in.count("local_links", 1000);
    fabric.global_links = in.count("global_links", 10'000);
    constexpr RoutingKind kRoutings[] = {RoutingKind::kMinimal, RoutingKind::kValiant, RoutingKind::kAdaptive};
    fabric.routing = kRoutings[in.value().at("routing").as_one_of({"minimal", "valiant", "adaptive"})];
    if (fabric.routing == RoutingKind::kValiant && fabric.groups == 2) {
        in.value().at("routing").fail(
            "\"minimal\" or \"adaptive\" where groups is 2: \"valiant\" goes by way of a third");
    }
    fabric.detour_delay_s = in.latency("detour_delay");
    fabric.local_detour_delay_s = in.latency("local_detour_delay");
    fabric.background_load = in.number("background_load", 0, 0.95);
    const std::int64_t nodes = std::int64_t{fabric.groups} * fabric.nodes_per_group;
    if (nodes > kMaxNodes) {
        in.value().at("groups").fail("groups * nodes_per_group of at most " + std::to_string(kMaxNodes));
    }
    if (fabric.max_nodes > nodes) {
        in.value().at("max_nodes").fail("at most groups * nodes_per_group, " + std::to_string(nodes));
    }
}

/// A fat tree, or rails: the same keys.
void read_tree(Section& in, FabricRecipe& fabric) {
    forbid(in.value(),
           {"groups", "nodes_per_group", "switches_per_group", "local_links", "global_links", "detour_delay",
            "local_detour_delay", "background_load"},
           "with \"kind\": \"fat-tree\" or \"rail\"; it belongs to a dragonfly");
    if (const auto levels = in.value().find("levels")) {
        fabric.levels = static_cast<int>(levels->as_integer(2, 3));
    }
    fabric.nodes_per_leaf = in.count("nodes_per_leaf", 10'000);
    fabric.taper = in.number("taper", kMinFraction, 1);
    if (fabric.levels == 3) {
        fabric.leaves_per_pod = in.count("leaves_per_pod", 10'000);
        fabric.pod_taper = in.number("pod_taper", kMinFraction, 1);
    } else {
        forbid(in.value(), {"leaves_per_pod", "pod_taper"}, "with two levels; it belongs to \"levels\": 3");
    }
    if (const auto routing = in.value().find("routing")) {
        fabric.routing =
            routing->as_one_of({"minimal", "adaptive"}) == 0 ? RoutingKind::kMinimal : RoutingKind::kAdaptive;
    }
}

void read_stated(const JsonValue& section, FabricRecipe& fabric) {
    section.allow_only({"nics", "switches", "injection", "global", "bisection"});
    if (fabric.kind != FabricKind::kDragonfly) {
        forbid(section, {"global"}, "without \"kind\": \"dragonfly\": only there are links between groups");
    }
    fabric.stated.nics = read_stated_total(section, "nics", Dimension::kNone);
    fabric.stated.switches = read_stated_total(section, "switches", Dimension::kNone);
    fabric.stated.injection_bytes_per_s = read_stated_total(section, "injection", Dimension::kBytesPerSecond);
    fabric.stated.global_bytes_per_s = read_stated_total(section, "global", Dimension::kBytesPerSecond);
    fabric.stated.bisection_bytes_per_s = read_stated_total(section, "bisection", Dimension::kBytesPerSecond);
}

void read_fabric(Section in, FabricRecipe& fabric) {
    in.value().allow_only({"kind", "link_bandwidth", "switch_latency", "groups", "nodes_per_group",
                           "switches_per_group", "local_links", "global_links", "levels", "nodes_per_leaf",
                           "leaves_per_pod", "taper", "pod_taper", "max_nodes", "routing", "detour_delay",
                           "local_detour_delay", "background_load", "stated"});
    constexpr FabricKind kKinds[] = {FabricKind::kDragonfly, FabricKind::kFatTree, FabricKind::kRail};
    fabric.kind = kKinds[in.value().at("kind").as_one_of({"dragonfly", "fat-tree", "rail"})];
    fabric.link_bytes_per_s = in.byte_rate("link_bandwidth");
    fabric.switch_latency_s = in.latency("switch_latency");
    fabric.max_nodes = in.count("max_nodes", kMaxNodes);
    if (fabric.kind == FabricKind::kDragonfly) {
        read_dragonfly(in, fabric);
    } else {
        read_tree(in, fabric);
    }
    if (const auto stated = in.value().find("stated")) {
        read_stated(*stated, fabric);
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

}  // namespace

Machine load_machine(const JsonDocument& document) {
    const JsonValue root = document.root();
    root.allow_only({"name", "description", "default_stack", "tile", "node", "fabric", "noise", "storage",
                     "reliability", "startup", "host", "launch"});
    Machine machine;
    machine.file = document.name();
    machine.name = read_text(root, "name");
    if (root.find("description")) {
        static_cast<void>(read_text(root, "description"));
    }
    if (root.find("default_stack")) {
        machine.default_stack = read_text(root, "default_stack");
    }
    read_tile(Section(root.at("tile"), machine.constants), machine.tile);
    read_node(Section(root.at("node"), machine.constants), machine.node, machine.constants);
    read_fabric(Section(root.at("fabric"), machine.constants), machine.fabric);
    read_noise(Section(root.at("noise"), machine.constants), machine.noise);
    machine.storage = read_storage(root.at("storage"), machine.constants);
    machine.reliability = read_reliability(root.at("reliability"), machine.constants);
    if (const auto startup = root.find("startup")) {
        machine.startup = read_startup_facts(*startup, machine.constants);
    }
    if (const auto host = root.find("host")) {
        machine.cpu = read_cpu_section(*host, machine.fabric.max_nodes, machine.constants);
    }
    if (const auto launch = root.find("launch")) {
        static_cast<void>(read_launch_settings(*launch));  // for those who write scripts
    }
    return machine;
}

}  // namespace auspex::models
