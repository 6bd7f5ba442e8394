#pragma once
/// @file What a machine is: tile, node, fabric, noise, storage, reliability, start. Pure data, loaded from
/// machines/*.json.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/constant.hpp"
#include "base/json_forward.hpp"
#include "models/attention/attention_kernel.hpp"
#include "models/cpu/cpu_model.hpp"
#include "models/reliability/reliability.hpp"
#include "models/startup/startup.hpp"

namespace auspex::models {

/// Words of Tile::architecture: families of accelerators for which a framework runs other kernels, or other libraries.
inline constexpr std::array<std::string_view, 7> kArchitectures{"ampere", "hopper", "blackwell", "cdna2",
                                                                "cdna3",  "cdna4",  "xe-hpc"};

/// One accelerator as a rank sees it. Rates are of one tile while every tile of the node is busy.
struct Tile {
    std::string name;
    std::string architecture;               ///< one of kArchitectures; empty: the file does not say
    double peak_bf16_flop_per_s = 0;        ///< the peak that MFU is measured against
    double gemm_bf16_flop_per_s = 0;        ///< sustained by a large GEMM, full node, power-limited
    double gemm_fp32_flop_per_s = 0;        ///< the same for fp32 (TF32) operands
    double gemm_fp8_flop_per_s = 0;         ///< of 8-bit operands with one scale a tensor; 0: has none
    double gemm_nvfp4_flop_per_s = 0;       ///< of 4-bit operands with one scale a block of 16; 0: has none
    double gemm_fp8_blocks_flop_per_s = 0;  ///< with one scale a block of 128; 0: has none
    double vector_fp32_flop_per_s = 0;
    double hbm_bytes_per_s = 0;                ///< sustained (STREAM triad)
    double hbm_bytes = 0;                      ///< capacity
    double reserved_bytes = 0;                 ///< of it taken by driver, runtime and collective library
    int cores = 1;                             ///< Xe cores, SMs, CUs: what a GEMM's tiles are dealt to
    int gemm_tile_m = 256, gemm_tile_n = 256;  ///< output block of one core in the vendor's GEMM
    double gemm_half_depth = 0;     ///< k at which a GEMM reaches half of its ceiling: eff_k = k / (k + half_depth)
    double gemm_small_block = 0.8;  ///< rate of a GEMM with output blocks of half the side, over that with full blocks
    double gemm_ceiling = 1;        ///< best fraction of the sustained rate that transformer shapes reach in situ
    std::vector<AttentionKernel> attention_kernels{{}};  ///< one at least; by name, or the one that has none
    double memory_efficiency = 1;  ///< fraction of hbm_bytes_per_s that element-wise kernels reach
    double kernel_launch_s = 0;    ///< least time between two dependent kernels, device side
    double speed_sigma = 0;        ///< persistent spread of compute rate over the fleet, standard deviation over median
    double speed_worst = 0.5;      ///< slowest tile over median: the spread is cut there
    double collective_compute_share = 0;  ///< share of compute that an active collective takes from the same tile
    double host_copy_compute_share = 0;   ///< share of compute that copies to the host or back take while they run
};

enum class ScaleUpKind { kMeshOfPairs, kSwitch };  ///< cards joined all-to-all by links, or every tile to one switch
enum class NicAttachment { kHost, kDevice };

/// A node: tiles on cards, cards and NICs on sockets. Bandwidths are per direction.
struct Node {
    int tiles = 1;
    int tiles_per_card = 1;
    int sockets = 1;
    ScaleUpKind scale_up = ScaleUpKind::kSwitch;
    double pair_bytes_per_s =
        0;  ///< between two tiles of one card (MDFI, Infinity Fabric in the package); unused when tiles_per_card = 1
    double pair_both_bytes_per_s = 0;  ///< the same, both directions together; 0: each has its own
    int mesh_links = 1;  ///< kMeshOfPairs: parallel links between two cards, 1 or tiles_per_card; with several,
                         ///< link i joins tile i of both (a plane), and another tile reaches it over its card
    double mesh_bytes_per_s = 0;         ///< kMeshOfPairs: one such link, one direction
    double mesh_both_bytes_per_s = 0;    ///< kMeshOfPairs: what two tiles of different cards exchange, both directions
                                         ///< together, whatever the links; 0: each direction has its own
    double switch_bytes_per_s = 0;       ///< kSwitch: one tile's port
    double scale_up_latency_s = 0;       ///< one message between two tiles of the node
    double pcie_bytes_per_s = 0;         ///< card to host, whatever the link: PCIe, Infinity Fabric, NVLink-C2C
    double pcie_both_bytes_per_s = 0;    ///< the same, both directions together; 0: each has its own
    double host_copy_latency_s = 0;      ///< from the start of a copy to the host, or back, to its first byte; where
                                         ///< the file does not say, scale_up_latency_s
    double host_memory_bytes = 0;        ///< of the node; 0: not stated
    double socket_out_bytes_per_s = 0;   ///< all cards of one socket to its host memory and NICs, in sum
    double socket_in_bytes_per_s = 0;    ///< and back
    double host_memory_bytes_per_s = 0;  ///< NicAttachment::kHost: memory of one socket, reads and writes in sum
    int nics = 1;
    double nic_bytes_per_s = 0;  ///< sustained
    NicAttachment nic_attachment = NicAttachment::kDevice;
    double nic_latency_s = 0;      ///< one message, node to node, no switch counted
    std::vector<int> nic_of_tile;  ///< by tile; empty: tile t uses NIC floor(t * nics / tiles)
};

enum class FabricKind {
    kDragonfly,
    kFatTree,  ///< a leaf holds all NICs of its nodes
    kRail,     ///< a leaf holds NIC r of its nodes: one leaf for each rail of a unit of nodes_per_leaf nodes
};
/// Dragonfly: kMinimal takes the direct links alone, its parallel ones in equal parts; kValiant goes by way of a third
/// group, and inside a group of a third switch, chosen at random (two switches: directly; two groups: refused);
/// kAdaptive fills the minimal path first and spreads the rest.
/// Trees and rails: kMinimal pins a flow to uplinks by the NIC that it goes to, in a tree by the NIC's number in the
/// whole machine, on rails by the number of its node and, between pods, of its rail, too; kAdaptive uses all uplinks
/// evenly.
enum class RoutingKind { kMinimal, kValiant, kAdaptive };

/// What the operator or vendor says of the whole machine, to check the recipe against; 0: not stated.
struct StatedTotals {
    double nics = 0, switches = 0;
    double injection_bytes_per_s = 0;  ///< one direction, at link_bandwidth
    double global_bytes_per_s = 0;     ///< dragonfly: all links between groups, both directions
    double bisection_bytes_per_s = 0;  ///< both directions
};

/// The network between nodes.
struct FabricRecipe {
    FabricKind kind = FabricKind::kFatTree;
    double link_bytes_per_s = 0;  ///< one switch-to-switch link, one direction
    double switch_latency_s = 0;
    // dragonfly
    int groups = 1;  ///< groups that hold compute nodes
    int nodes_per_group = 1;
    int switches_per_group = 1;
    int local_links = 1;   ///< parallel links between two switches of a group
    int global_links = 1;  ///< parallel links between two groups
    // fat tree and rails
    int levels = 2;          ///< 2: leaves and spines; 3: leaves, the spines of a pod, cores
    int nodes_per_leaf = 1;  ///< kRail: nodes of a unit
    int leaves_per_pod = 1;  ///< 3 levels; kRail: units of a pod
    double taper = 1;        ///< leaf uplink capacity over its injection capacity
    double pod_taper = 1;    ///< 3 levels: capacity from a pod to the cores over that from its leaves to its spines
    int max_nodes = 1;       ///< nodes that a job may ask for
    RoutingKind routing = RoutingKind::kAdaptive;
    double detour_delay_s = 0;  ///< adaptive: how much longer a packet waits on a full direct link between two groups
                                ///< than on its detour, before the next ones detour
    double local_detour_delay_s = 0;  ///< the same between two switches of a group
    double background_load = 0;       ///< share of every group-to-group link that other jobs use
    StatedTotals stated;
};

/// What makes equal work take unequal time.
struct Noise {
    double os_events_per_s = 0;  ///< interruptions of one rank
    double os_event_s = 0;       ///< mean length of one
    double network_jitter = 0;   ///< relative standard deviation of one scale-out transfer's time
};

struct Machine {
    std::string name, file;
    std::string default_stack;  ///< for commands that are given none; may be empty
    Tile tile;
    Node node;
    FabricRecipe fabric;
    Noise noise;
    Storage storage;
    Reliability reliability;
    StartupFacts startup;
    CpuModel cpu;  ///< host.cores = 0: the file has no "host" section
    std::vector<Constant>
        constants;  ///< every physical number above, in the order of the file; paths begin with "machine."
};

/// Throws InputError (file, path, found, allowed). docs/formats-machine-stack.md describes the file.
[[nodiscard]] Machine load_machine(const JsonDocument& document);

}  // namespace auspex::models
