#pragma once
/// @file Times of a program's communications by group, and which of them have their links to themselves.
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "models/machine.hpp"
#include "models/routing.hpp"
#include "models/stack.hpp"
#include "sim/engine/costed_program.hpp"
#include "sim/network/sharing/sparse_links.hpp"

namespace auspex::engine {

/// Which communications are distinct.
enum class Grain {
    kStages,  ///< folded: all sibling groups of a stage are one
    kRanks,   ///< unfolded: every group by itself
};

/// Capacity of a link, and the solo rate of a pattern, in bytes/s, with factors on the capacities of links (each at
/// most 1; empty: none).
[[nodiscard]] double slowed_capacity(const network::Fabric& fabric, std::uint32_t link,
                                     std::span<const double> factors);
[[nodiscard]] double slowed_solo_rate(const network::Network& network, network::PatternId pattern,
                                      std::span<const double> factors);
/// The link with a factor below 1 that bounds it; kNone if none does.
[[nodiscard]] std::uint32_t slowed_bottleneck(const network::Network& network, network::PatternId pattern,
                                              std::span<const double> factors);

/// True of gradients and parameters that are sharded over ranks, whose bytes take 1 / stack.shard_efficiency as long
/// between nodes.
[[nodiscard]] bool is_shard(const schedule::Operation& op);

/// Collects the communications of a program (index_of), then says which share links (decide_sharing).
class TransferCosts {
 public:
    /// `link_factors`: on the capacity of each link, kRanks only; empty: 1.
    TransferCosts(const schedule::Program& program, const models::Machine& machine, const models::Stack& stack,
                  const models::Layout& layout, network::Network& network, const models::RoutingLoad& load, Grain grain,
                  std::span<const double> link_factors);

    /// Number of the operation's communication in this stage; unrolls it when it is met first.
    std::uint32_t index_of(const schedule::Operation& op, int stage);

    /// Nothing but pipeline messages runs beside compute or another collective of the same actor.
    [[nodiscard]] bool is_serial() const { return serial_; }

    /// Sets Member::shares. kStages: a communication has its links to itself if no other stage, and with asynchronous
    /// messages not even this stage, uses them at the same time. kRanks: if all groups that use one of its links have a
    /// member in common, which runs one of these communications at a time. Links that could carry all users at their
    /// solo rates do not count.
    void decide_sharing();

    [[nodiscard]] const std::vector<CostedTransfer>& transfers() const { return transfers_; }
    [[nodiscard]] std::vector<CostedTransfer> take_transfers() { return std::move(transfers_); }
    [[nodiscard]] std::vector<std::uint32_t> take_shared_links() { return std::move(shared_links_); }

 private:
    struct Use {
        schedule::CommKind comm;
        models::GroupKind group;
        int stage;
        schedule::Stream stream;
    };
    struct Sets;
    CostedTransfer unroll(const schedule::Operation& op, int stage);
    void append(CostedTransfer& out, const schedule::Operation& op, int stage, int member);
    [[nodiscard]] double solo_rate(network::PatternId pattern) const {
        return slowed_solo_rate(network_, pattern, link_factors_);
    }
    [[nodiscard]] double scale_of(const schedule::Operation& op) const;
    /// The network's number of the layer's shares.
    [[nodiscard]] int shares_of(const schedule::Operation& op);
    [[nodiscard]] Picoseconds solo_time(std::span<const network::TransferPhase> phases) const;
    void note_slow_links(CostedTransfer::Member& member, std::span<const network::TransferPhase> phases) const;
    [[nodiscard]] Picoseconds even_time(const schedule::Operation& op, int stage, int member);
    void decide_by_stage();
    void decide_by_link();
    [[nodiscard]] std::size_t lane_of(const Use& use) const;
    void note_links(Sets& sets, std::size_t transfer, const network::SparseLinks<double>& wanted) const;
    [[nodiscard]] network::SparseLinks<double> wanted_by_link() const;

    const schedule::Program& program_;
    const models::Machine& machine_;
    const models::Stack& stack_;
    const models::Layout& layout_;
    network::Network& network_;
    std::optional<network::Network>
        even_;  ///< without routing shares: for what uneven all-to-alls would take if they were even
    const models::RoutingLoad& load_;
    Grain grain_;
    std::span<const double> link_factors_;
    bool serial_;
    std::vector<CostedTransfer> transfers_;
    std::vector<Use> uses_;
    std::vector<std::uint32_t> shared_links_;  ///< kRanks
    std::map<std::tuple<schedule::CommKind, models::GroupKind, int, schedule::Stream, double, int, double, int>,
             std::uint32_t>
        index_;
    std::map<int, int> shares_;  ///< by layer
};

}  // namespace auspex::engine
