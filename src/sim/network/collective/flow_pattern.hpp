#pragma once
/// @file What one round of a collective puts on every link.
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/layout.hpp"
#include "sim/network/collective/collective_rounds.hpp"
#include "sim/network/collective/group_set.hpp"
#include "sim/network/collective/regular_groups.hpp"
#include "sim/network/collective/step_shape.hpp"
#include "sim/network/fabric/fabric.hpp"
#include "sim/network/sharing/max_min.hpp"
#include "sim/network/sharing/node_loads.hpp"
#include "sim/network/sharing/pattern_loads.hpp"
#include "sim/network/sharing/sparse_links.hpp"

namespace auspex::network {

/// All sibling groups of a stage at once, as one.
inline constexpr int kAllSiblings = -1;

struct PatternKey {
    models::GroupKind group;
    int stage;
    Level level;
    StepShape shape;
    int distance;
    int member = kAllSiblings;  ///< or one group
    int shares = 0;             ///< flows in proportion to the share of their receiver: number of the list; 0: even
    bool by_host = false;       ///< flows in a node go from process to process through the host
    auto operator<=>(const PatternKey&) const = default;
};

/// What a pattern puts on the fabric. All its flows advance together, so that it lasts as long as its slowest flow, and
/// that one crosses the link with the least capacity / load: the first that progressive filling fills.
struct FlowPattern {
    PatternKey key;
    /// Flows on each link, weighted. Not kept for kWorld: what all ranks do at the same time shares no link with
    /// others.
    PatternLoads loads;
    double flows = 0;         ///< weighted
    std::uint64_t ranks = 0;  ///< of the groups
    int node_ranks = 0;    ///< where messages meet in the host: most of them on one; not in pairs, which add nothing up
    double latency_s = 0;  ///< of the slowest route's wires and switches
    int messages = 0;      ///< most that one rank sends out of its node
    /// Of what goes to another switch of a dragonfly group, or to another group.
    struct Wait {
        int messages = 0;  ///< most that one rank sends so
        double share = 0;  ///< of all flows, the mean over the groups
        /// Where more goes between the two than fits on their direct links, a byte on every flow keeps these links busy
        /// so long: packets wait for what fills them, at most until they detour. 0: everything fits, nothing waits.
        double drain_s_per_byte = 0;
        std::uint32_t link = kNoLink;  ///< of the pair with most flows, where not everything fits
        bool operator==(const Wait&) const = default;
    };
    std::array<Wait, kDetourLevels> waits{};  ///< [DetourLevel]
    double free_s_per_byte = 0;               ///< at the rate at which nodes send into the network
    double window_s_per_byte = 0;             ///< the part of 1 / solo_rate that windows wait for full links
    double solo_rate = 0;
    std::uint32_t bottleneck = 0;
    bool leaves_node = false;
    bool stays_in_node = false;  ///< some flow does
    /// Of the routes between nodes; there is one where leaves_node.
    struct Slowest {
        int from = 0, to = 0;  ///< ranks
        double latency_s = 0;
    } slowest;
    /// All loads but those of detours, which depend on the rate: kept for PatternBuilder::adapt().
    std::shared_ptr<const PatternLoads> direct;
};

/// What its ranks receive lies in host memory, where NICs hang on the host.
[[nodiscard]] inline bool meets_in_host(const FlowPattern& pattern) {
    return pattern.leaves_node || pattern.key.by_host;
}

/// Adds up flows; keeps its allocations between patterns.
class PatternBuilder {
 public:
    explicit PatternBuilder(const Fabric& fabric);
    /// From here on patterns keep what adapt() needs.
    void keep_direct() { keeps_direct_ = true; }
    /// Of the tokens whose rows go from node to node (StepShape::kByNode).
    void set_token_spread(const models::TokenSpread& spread) { spread_ = spread; }
    /// `shares`: of each index in a group, mean 1, for uneven patterns; else empty.
    [[nodiscard]] FlowPattern build(const PatternKey& key, const GroupSet& groups, std::span<const double> shares);
    /// True if build() of the groups by rule can be asked.
    [[nodiscard]] bool can_build(const PatternKey& key, const RegularGroups& groups) const;
    /// The same as of all groups, rank by rank, from the flows of one block: loads that stand for all blocks. All loads
    /// are sums of shares of links that add up without rounding.
    [[nodiscard]] FlowPattern build(const PatternKey& key, const RegularGroups& groups);
    /// What one of several sibling groups waits for on full links depends on them all, which start together, and so
    /// does how many ranks of a node add up at once: `member` takes all of it from the pattern of all.
    void wait_as_all(const FlowPattern& all, FlowPattern& member) const;
    /// The same flows with the capacities and latencies of this builder's fabric. Requires a pattern that keeps
    /// `direct`, of a fabric with the same routes.
    [[nodiscard]] FlowPattern adapt(const FlowPattern& pattern);

 private:
    struct Ends;
    [[nodiscard]] std::size_t end_of_bundle(const GroupSet& groups, std::size_t first);
    [[nodiscard]] bool lies_on(std::span<const int> group) const;
    void add_bundle(const GroupSet& groups, std::size_t first, std::size_t end, const PatternKey& key,
                    FlowPattern& pattern);
    void add_host_work(std::span<const int> group, StepShape shape, FlowPattern& pattern);
    void add_rings(std::span<const int> group, int rings, FlowPattern& pattern);
    void add_in_node(std::span<const int> group, const PatternKey& key, FlowPattern& pattern);
    void add_ends(int from, int to, double weight, FlowPattern& pattern);
    [[nodiscard]] const Ends* sum_ends(const GroupSet& groups, std::size_t first, std::size_t end);
    [[nodiscard]] bool add_even_exchange(const GroupSet& groups, std::size_t first, std::size_t end,
                                         FlowPattern& pattern);
    void add_all_pairs(const GroupSet& groups, std::size_t first, std::size_t end, FlowPattern& pattern);
    [[nodiscard]] int most_on_a_node(const GroupSet& groups) const;
    void note_exchange(std::span<const int> group, int messages, FlowPattern& pattern) const;
    void note_crossing(int from, int to, double flows, FlowPattern& pattern) const;
    [[nodiscard]] std::optional<DetourLevel> crossed(int from, int to) const;
    [[nodiscard]] int farthest_from_first(std::span<const int> group, double latency_s);
    void add_pairs_of_nodes(std::span<const int> group, FlowPattern& pattern);
    void add_inter_node_flow(int from, int to, double flows, FlowPattern& pattern);
    struct BlockFlow;
    [[nodiscard]] std::vector<BlockFlow> flows_of_block(const PatternKey& key, const RegularGroups& groups) const;
    void add_in_block(const RegularGroups& groups, const PatternKey& key, FlowPattern& pattern);
    void add_block_flows(const RegularGroups& groups, const PatternKey& key, FlowPattern& pattern);
    void add_between_first_block(int from, int to, double flows, FlowPattern& pattern);
    void add_pairs_of_blocks(const RegularGroups& groups, const PatternKey& key, const std::map<int, double>& flows);
    void add_block_exchange(const RegularGroups& groups, FlowPattern& pattern);
    [[nodiscard]] const Ends& ends_of(const std::vector<int>& tiles);
    void finish(FlowPattern& pattern);
    void find_rate(FlowPattern& pattern);
    void wait_in_windows(FlowPattern& pattern) const;
    [[nodiscard]] PatternLoads direct_loads();
    void bind_nodes(FlowPattern& pattern) const;
    void bind_between(FlowPattern& pattern) const;
    static void note_latency(int from, int to, double latency_s, FlowPattern& pattern);
    [[nodiscard]] static bool bind(double capacity, const LinkLoad& on, std::uint32_t first, FlowPattern& pattern);
    [[nodiscard]] double share(std::size_t index) const { return shares_.empty() ? 1 : shares_[index]; }
    [[nodiscard]] double weight(const PatternKey& key, int from, int to, std::size_t receiver) const;

    const Fabric& fabric_;
    bool keeps_direct_ = false;
    int tiles_;
    bool one_switch_a_node_;  ///< and crossings depend on switches alone: they are equal for all tiles of a node
    std::span<const double> shares_;
    models::TokenSpread spread_;
    RowWeights row_weights_;  ///< of the pattern being made
    InterNodeRoute route_;    ///< scratch
    // Of the pattern being made, until it is collected.
    NodeLoads in_nodes_;
    std::uint32_t first_between_;  ///< link between nodes: `between_` counts from it on
    SparseLinks<double> between_;
    std::vector<LinkLoad> part_;  ///< scratch: loads of a node by slot, or those between nodes by link
    /// What one flow takes in a node, as lists of in_nodes_: by tile, and by tile and tile.
    std::vector<NodeLoads::ListId> out_, in_, to_host_, from_host_, in_host_, to_tile_;
    /// What one flow of each of some tiles takes.
    struct Ends {
        NodeLoads::ListId out = 0, in = 0;
    };
    std::map<std::vector<int>, Ends> ends_of_tiles_;
    std::vector<int> node_begins_;     ///< of the bundle in hand, by index in a group: the first rank of its node
    std::vector<int> bundle_tiles_;    ///< scratch
    std::vector<int> template_tiles_;  ///< the in-node group added last: others on the same tiles have the same loads
    NodeLoads::ListId template_ = 0;
    double template_flows_ = 0;
};

}  // namespace auspex::network
