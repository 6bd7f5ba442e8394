#pragma once
/// @file What the communications of a graph take on a machine's network.
#include <map>
#include <tuple>
#include <vector>

#include "models/kernel_cost.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"
#include "sim/graph/graph.hpp"
#include "sim/network/collective/network.hpp"

namespace auspex::graph {

/// A communication, unrolled.
struct GraphTransfer {
    std::vector<network::TransferPhase> phases;
    Picoseconds solo_time = 0;  ///< nothing else on its links
    double jitter = 0;          ///< relative standard deviation of its time
};

/// Groups that start together are siblings (sim/network): what one of them waits for on full links, and how many ranks
/// of a node add up at a time, depends on them all. Taken as such are groups of the same size whose members, one by
/// one, have the same communications in the same order and meet at the same place of them; messages likewise of their
/// senders.
class GraphCosts {
 public:
    /// `job` must live as long; its ranks are those of the layout.
    GraphCosts(const GraphJob& job, const models::Machine& machine, const models::Stack& stack,
               const models::Layout& layout);

    /// Of a collective of one of the job's groups. Throws InputError for one of kLongestTime or more.
    const GraphTransfer& collective(std::uint32_t group, const GraphNode& node);
    /// Of a message of `rank` to the peer at one of its places.
    const GraphTransfer& message(int rank, const GraphNode& node);

    [[nodiscard]] network::Network& network() { return network_; }
    /// Share of compute that is left while a collective runs.
    [[nodiscard]] double compute_rate_beside() const { return 1 - models::collective_compute_share(machine_, stack_); }

 private:
    /// A number of Network::list_groups, and which of its groups.
    struct Sibling {
        int list = -1, member = 0;
    };
    using Key = std::tuple<schedule::CommKind, int, int, double, bool>;
    void find_siblings();
    void find_pairs(const std::vector<std::uint64_t>& shapes);
    const GraphTransfer& unroll(schedule::CommKind comm, Sibling sibling, double bytes, bool is_shard);

    const GraphJob& job_;
    const models::Machine& machine_;
    const models::Stack& stack_;
    network::Network network_;
    std::vector<Sibling> of_group_;
    std::vector<std::vector<Sibling>> of_peer_;  ///< by rank and place
    std::map<Key, GraphTransfer> transfers_;
};

}  // namespace auspex::graph
