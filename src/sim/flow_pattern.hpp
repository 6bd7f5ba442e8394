#pragma once
/// @file Who sends to whom in one round of a collective, and what that puts on every link.
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "models/layout.hpp"
#include "models/stack.hpp"
#include "sim/fabric.hpp"

namespace auspex {

/// Which ranks of a group take part together.
enum class Level : std::uint8_t {
    kFlat,   ///< the whole group
    kInner,  ///< those that share a node
    kOuter,  ///< those with the same place in their nodes, one a node
};

/// Rank i of n sends to ...
enum class StepShape : std::uint8_t {
    kShift,      ///< (i + distance) mod n; 1: a ring
    kXor,        ///< i xor distance, among the largest power of two of ranks
    kFoldIn,     ///< the ranks beyond the largest power of two p send to i - p
    kFoldOut,    ///< and receive from there
    kAllPairs,   ///< every other rank
    kTree,       ///< i + distance, for i < distance: a round of a binomial tree from rank 0
    kScatter,    ///< i + distance, for i a multiple of 2 distance: a round of a binomial scatter
    kRootToAll,  ///< rank 0 to every other
    kPairs,      ///< the group is {from, to}
};

struct PatternKey {
    GroupKind group;
    int stage;
    Level level;
    StepShape shape;
    int distance;
    auto operator<=>(const PatternKey&) const = default;
};

/// Groups of ranks one after the other: group g is ranks[begin[g] .. begin[g + 1]).
struct GroupSet {
    std::vector<int> ranks;
    std::vector<std::uint32_t> begin{0};
    [[nodiscard]] std::size_t count() const { return begin.size() - 1; }
    [[nodiscard]] std::span<const int> group(std::size_t g) const {
        return std::span(ranks).subspan(begin[g], begin[g + 1] - begin[g]);
    }
};

/// How a group lies on nodes. Alike for all siblings, or `per_node` is 0.
struct GroupForm {
    int ranks = 1;
    int nodes = 1;
    int per_node = 1;  ///< 0: not the same number on every node
};

[[nodiscard]] GroupSet flatten(const std::vector<std::vector<int>>& groups);
/// The subgroups of a level. Requires for kOuter that every group has equally many ranks on each of its nodes.
[[nodiscard]] GroupSet subgroups(const GroupSet& groups, Level level, int tiles_per_node);
[[nodiscard]] GroupForm form_of(const GroupSet& groups, int tiles_per_node);

/// Largest power of two <= n. Requires n >= 1.
[[nodiscard]] int power_of_two_within(int n);

/// Calls emit(i, j) for every flow from the i-th to the j-th of n ranks.
template <class Emit>
void for_each_pair(StepShape shape, int distance, int n, Emit&& emit) {
    if (n < 2) {
        return;
    }
    const int p = power_of_two_within(n);
    switch (shape) {
        case StepShape::kShift:
            for (int i = 0; i < n; ++i) {
                emit(i, (i + distance) % n);
            }
            return;
        case StepShape::kXor:
            for (int i = 0; i < p; ++i) {
                emit(i, i ^ distance);
            }
            return;
        case StepShape::kFoldIn:
            for (int i = p; i < n; ++i) {
                emit(i, i - p);
            }
            return;
        case StepShape::kFoldOut:
            for (int i = p; i < n; ++i) {
                emit(i - p, i);
            }
            return;
        case StepShape::kAllPairs:
            for (int i = 0; i < n; ++i) {
                for (int j = 0; j < n; ++j) {
                    if (i != j) {
                        emit(i, j);
                    }
                }
            }
            return;
        case StepShape::kTree:
            for (int i = 0; i < distance && i + distance < n; ++i) {
                emit(i, i + distance);
            }
            return;
        case StepShape::kScatter:
            for (int i = 0; i + distance < n; i += 2 * distance) {
                emit(i, i + distance);
            }
            return;
        case StepShape::kRootToAll:
            for (int i = 1; i < n; ++i) {
                emit(0, i);
            }
            return;
        case StepShape::kPairs: emit(0, 1); return;
    }
}

struct LinkLoad {
    std::uint32_t link;
    double load;  ///< sum of the weights of the flows on it
};

/// What a pattern puts on the fabric. All its flows run at one size, so it lasts as long as its slowest flow, and that
/// one crosses the link with the least capacity / load: the first that progressive filling fills.
struct FlowPattern {
    PatternKey key;
    std::vector<LinkLoad> loads;  ///< by rising link
    /// Bits of the links, 64 to a block, by rising block: for quick tests of overlap.
    struct Block {
        std::uint32_t index;
        std::uint64_t links;
    };
    std::vector<Block> blocks;
    std::uint64_t flows = 0;
    std::uint64_t ranks = 0;  ///< of the groups
    double alpha_s = 0;       ///< cost of one message on the slowest route: software and latency
    double solo_rate = 0;
    std::uint32_t bottleneck = 0;
    bool leaves_node = false;
};

[[nodiscard]] bool overlap(const FlowPattern& a, const FlowPattern& b);

/// Adds flows up; keeps its arrays over all links between patterns.
class PatternBuilder {
 public:
    PatternBuilder(const Fabric& fabric, double scale_up_message_s, double scale_out_message_s);
    [[nodiscard]] FlowPattern build(const PatternKey& key, const GroupSet& groups);

 private:
    void add(std::uint32_t link, double weight);
    void add_group(std::span<const int> group, const PatternKey& key, FlowPattern& pattern);
    void add_in_node(std::span<const int> group, const PatternKey& key, FlowPattern& pattern);
    void add_flow(int from, int to, FlowPattern& pattern);
    void add_all_pairs(std::span<const int> group, FlowPattern& pattern);
    void add_crossing(int from_node, int to_node, double flows, FlowPattern& pattern);
    void collect(FlowPattern& pattern);

    const Fabric& fabric_;
    double scale_up_message_s_, scale_out_message_s_;
    int tiles_;
    std::vector<double> load_;            ///< by link, all zero between patterns
    std::vector<std::uint64_t> touched_;  ///< a bit for each link
    std::vector<int> template_tiles_;  ///< the in-node group added last: others on the same tiles have the same loads
    std::vector<LinkLoad> template_loads_;  ///< by slot
    std::uint64_t template_flows_ = 0;
};

/// Flows one by one, for sets of patterns that share links.
struct FlowSet {
    std::vector<std::uint32_t> begin{0};  ///< legs of flow f: begin[f] .. begin[f + 1]
    std::vector<Leg> legs;
    std::vector<std::uint32_t> owner;  ///< of a flow: whatever the caller numbers
    [[nodiscard]] std::size_t count() const { return owner.size(); }
};
void append_flows(const Fabric& fabric, const PatternKey& key, const GroupSet& groups, std::uint32_t owner,
                  FlowSet& flows);

}  // namespace auspex
