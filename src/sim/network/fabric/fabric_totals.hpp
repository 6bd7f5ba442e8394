#pragma once
/// @file What a machine's graph adds up to, and how that compares with what is stated of the machine.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/fabric/fabric_graph.hpp"

namespace auspex::network {

/// Counts are of things; a link of two directions is one. Rates are those of the links in the machine file, without
/// background load and without a stack.
struct FabricTotals {
    std::uint64_t nodes = 0, tiles = 0, nics = 0;
    std::uint64_t switches = 0;  ///< of groups, or leaves
    std::uint64_t spines = 0, cores = 0;
    std::uint64_t blocks = 0;                       ///< groups, leaves or units
    std::uint64_t pods = 0;                         ///< 0 with two levels
    std::array<std::uint64_t, kLinkKinds> links{};  ///< by LinkKind
    /// Most switches that a packet passes on a shortest way with at most one link between groups. Searched from every
    /// switch of group 0 (all groups are wired the same way, each seen from itself), or from leaf 0 (all leaves are
    /// equal).
    int diameter_switches = 0;
    double injection_bytes_per_s = 0;  ///< NICs x the rate of their links (nic_wire.hpp), one direction
    double global_bytes_per_s = 0;     ///< dragonfly: all links between groups, both directions
    /// Both directions, between the first half of the groups and the others; one group: of its switches. Trees: of the
    /// pods (leaves, units with one pod), where each spine and core stands on the side to which it has more capacity.
    double bisection_bytes_per_s = 0;
    double block_out_bytes_per_s = 0;                               ///< leaves block 0, one direction
    double block_injection_bytes_per_s = 0;                         ///< NICs of a full block x the rate of their links
    double pod_out_bytes_per_s = 0, pod_injection_bytes_per_s = 0;  ///< the same of pod 0; 0 with two levels
    double pod_uplinks_bytes_per_s = 0;                             ///< from the leaves of pod 0 to its spines

    [[nodiscard]] double taper() const { return block_out_bytes_per_s / block_injection_bytes_per_s; }
    /// Both of pod 0, three levels: over what its NICs' links carry; over its leaves' uplinks, which is the machine
    /// file's pod_taper as far as links are whole.
    [[nodiscard]] double pod_taper_of_nics() const { return pod_out_bytes_per_s / pod_injection_bytes_per_s; }
    [[nodiscard]] double pod_taper_of_uplinks() const { return pod_out_bytes_per_s / pod_uplinks_bytes_per_s; }
};

[[nodiscard]] FabricTotals totals_of(const FabricGraph& graph);

/// One total that the machine file states, beside the graph's.
struct StatedCheck {
    const char* name;  ///< "nics", "switches", "injection", "global", "bisection"
    bool is_rate;      ///< bytes/s; else a count
    double stated, built;
    double difference;  ///< built / stated - 1
    bool matches;       ///< |difference| <= kStatedTolerance
};
inline constexpr double kStatedTolerance = 0.02;

/// The totals that are stated; none where the file states nothing. Switches: all of them.
[[nodiscard]] std::vector<StatedCheck> check_stated(const models::Machine& machine, const FabricTotals& totals);

}  // namespace auspex::network
