#pragma once
/// @file The event loop of graphs.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "sim/graph/graph_player.hpp"
#include "sim/graph/player_recorder.hpp"
#include "sim/graph/player_state.hpp"
#include "sim/network/sharing/link_sharing.hpp"

namespace auspex::graph {

/// Plays one job, once.
class GraphPlayer {
 public:
    GraphPlayer(const GraphJob& job, GraphCosts& costs, const models::Machine& machine, const PlayOptions& options);
    GraphResult run();

 private:
    [[nodiscard]] const RankProgram& program_of(std::uint32_t rank) const {
        return job_.programs[job_.ranks[rank].program];
    }
    [[nodiscard]] const GraphNode& node_of(std::uint32_t rank, std::uint32_t node) const {
        return program_of(rank).nodes[node];
    }
    void push(Picoseconds time, Event::Type type, std::uint32_t subject, std::uint32_t generation = 0) {
        events_.push_back({time, ++sequence_, type, subject, generation});
        std::push_heap(events_.begin(), events_.end());
    }

    // ranks
    /// Nodes of each place of a program, by number.
    void prepare();
    void start_what_can();
    void touch(std::uint32_t rank);
    void make_ready(std::uint32_t rank, std::uint32_t n);
    void start_next(std::uint32_t rank);
    void complete(std::uint32_t rank, std::uint32_t n);
    /// The time since the last account goes to what the rank has been doing.
    void account(std::uint32_t rank);

    // compute, slower beside collectives
    void schedule_compute_end(std::uint32_t rank);
    void change_collectives(std::uint32_t rank, int by);
    void handle(const Event& event);

    // communication
    [[nodiscard]] Picoseconds noise(const GraphTransfer& transfer, double ranks, double compute_s) const;
    void send(std::uint32_t rank, std::uint32_t n);
    void arrive(std::uint32_t rank, std::uint32_t n);
    void receive(std::uint32_t rank, std::uint32_t n);
    void begin(ActiveTransfer what, Picoseconds delay);
    /// A delay or a latency is over, or all bytes of a phase have flowed.
    void step(const Event& event);
    void flow(std::uint32_t index, const network::TransferPhase& phase);
    network::LoadList loads_of(network::PatternId pattern);
    void update_rates();
    void end(const ActiveTransfer& what);
    /// Calls visit(rank, node) for all that take part.
    template <class Visit>
    void for_each_member(const ActiveTransfer& active, Visit&& visit) {
        if (active.group == kNone) {
            visit(active.rank, active.node);
            return;
        }
        for (const auto& [rank, place] : members_[active.group]) {
            visit(rank, collectives_[job_.ranks[rank].program][place][active.number]);
        }
    }

    // the end
    GraphResult finish();
    /// A node of the rank that could go on, but for others.
    [[noreturn]] void refuse_endless_wait(std::uint32_t rank) const;
    [[nodiscard]] bool waits_for_message(std::uint32_t rank, std::uint32_t n) const;
    [[nodiscard]] bool waits_for_group(std::uint32_t rank, const GraphNode& node) const;

    const GraphJob& job_;
    GraphCosts& costs_;
    const models::Noise& noise_;
    double compute_rate_beside_;
    int most_issued_;
    std::uint64_t most_solved_;
    network::LinkSharing sharing_;
    std::vector<RankState> ranks_;
    Recorder recorder_;
    std::vector<std::vector<std::vector<std::uint32_t>>> collectives_;  ///< by program, place and number: nodes
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>
        members_;                                                 ///< by group: rank, and its place there
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ready_;  ///< rank and node
    std::vector<std::uint32_t> touched_;
    std::unordered_map<std::uint64_t, GroupSync> syncs_;  ///< by group and number
    std::unordered_map<MessageKey, MessageQueue, MessageHash> messages_;
    std::vector<ActiveTransfer> transfers_;
    std::vector<std::uint32_t> free_, transfer_of_flow_;
    std::unordered_map<network::PatternId, std::vector<network::LinkLoad>> loads_;
    network::BytesByPattern moved_;
    std::vector<Event> events_;
    std::uint64_t sequence_ = 0;
    bool flows_changed_ = false;
    Picoseconds now_ = 0, last_ended_ = 0;
};

}  // namespace auspex::graph
