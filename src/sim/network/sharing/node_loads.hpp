#pragma once
/// @file Loads inside nodes, added up once for all nodes to which the same was added.
#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/network/sharing/max_min.hpp"

namespace auspex::network {

/// What a node carries is the history of what was added to it: list after list, each times a weight. Nodes with one
/// history have one number, and the same loads to the bit; the sums are made only where they are asked for.
class NodeLoads {
 public:
    using ListId = std::uint32_t;
    using HistoryId = std::uint32_t;
    static constexpr HistoryId kNothing = 0;

    explicit NodeLoads(int nodes) : history_of_(static_cast<std::size_t>(nodes), kNothing) {}
    /// Number of a list of loads by slot, equal lists have one; they stay until the end.
    [[nodiscard]] ListId keep_list(std::vector<LinkLoad> by_slot);
    void add(std::uint32_t node, ListId list, double weight) {
        if (!lists_[list].empty()) {
            history_of_[node] = next(history_of_[node], list, weight);
            begin_ = std::min(begin_, node);
            end_ = std::max(end_, node + 1);
        }
    }

    /// Calls visit(node, history) by rising node for those to which something was added.
    template <class Visit>
    void for_each_node(Visit&& visit) const {
        for (std::uint32_t node = begin_; node < end_; ++node) {
            if (history_of_[node] != kNothing) {
                visit(node, history_of_[node]);
            }
        }
    }
    [[nodiscard]] std::size_t history_count() const { return histories_.size() + 1; }  ///< with kNothing
    /// The sums, by rising slot, each added up in the order in which it was added.
    void sum(HistoryId history, std::vector<LinkLoad>& by_slot);
    /// No node has anything afterwards.
    void clear();

 private:
    struct History {
        HistoryId before = kNothing;
        ListId list = 0;
        double weight = 0;
        bool operator==(const History&) const = default;
    };
    struct Hash {
        std::size_t operator()(const History& history) const;
    };
    struct Known {
        History history;
        HistoryId id = kNothing;  ///< kNothing: none is known here
    };
    HistoryId next(HistoryId before, ListId list, double weight);

    static constexpr std::uint32_t kNoNode = ~0U;
    std::vector<HistoryId> history_of_;
    std::uint32_t begin_ = kNoNode, end_ = 0;  ///< of the nodes that have one
    std::vector<History> histories_;           ///< of id - 1
    std::unordered_map<History, HistoryId, Hash> id_of_;
    std::array<Known, 256> known_lately_{};  ///< most nodes go the way of the one before
    std::vector<std::vector<LinkLoad>> lists_;
    std::unordered_multimap<std::uint64_t, ListId> list_of_hash_;
    std::vector<History> order_;  ///< scratch of a sum
    std::vector<double> sums_;    ///< likewise: by slot
    std::vector<char> is_there_;
};

}  // namespace auspex::network
