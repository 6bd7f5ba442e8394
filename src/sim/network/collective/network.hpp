#pragma once
/// @file Communications unrolled into phases of flows over the fabric; rates shared max-min fairly among all that are
/// active.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "models/layout.hpp"
#include "schedule/program/communication.hpp"
#include "sim/network/collective/collective_phases.hpp"
#include "sim/network/collective/flow_pattern.hpp"
#include "sim/network/fabric/fabric.hpp"

namespace auspex::network {

/// A set of equal flows that start together (say, one ring step of every sibling group of a stage). Equal patterns
/// share an id.
using PatternId = std::uint32_t;

/// One part of a communication: first `latency_s` in which nothing flows, then `bytes` on every flow of `pattern`,
/// until the slowest flow ends. Repeated steps over the same pattern (ring) are one phase: latency and bytes are their
/// sums.
struct TransferPhase {
    double latency_s = 0;    ///< messages, wires, and adding up what is received
    double reduction_s = 0;  ///< the part of latency_s that adds up
    double bytes = 0;
    PatternId pattern = 0;
    int rounds = 1;
    const char* what = "";
};

/// An unrolled communication: of every sibling group of the stage at the same time, or of one of them.
struct Transfer {
    std::vector<TransferPhase> phases;
    AlgorithmChoice choice;
    double bytes_sent = 0;  ///< by one rank, the mean over the group: what the closed form of the algorithm says
    int rounds = 0;         ///< rounds in which ranks synchronise; for jitter
    bool leaves_node = false;
};

/// Those of set_routing_shares.
inline constexpr int kUsualShares = -1;

class Network {
 public:
    Network(const models::Machine& machine, const models::Stack& stack, const models::Layout& layout);
    /// For the same layout, maybe with other constants. Groups and flows that `model` has are not sought again, but
    /// taken from it, where the two have the same routes; rates and times are those of this network. Requires a model
    /// that can be one (be_model), has the same routing, and neither ends nor changes before this network.
    Network(const models::Machine& machine, const models::Stack& stack, const models::Layout& layout,
            const Network& model);
    ~Network();
    Network(Network&&) noexcept;

    /// Number of a list of shares of routed tokens, of each index in an expert-parallel group over the mean: for
    /// unroll(). The same for the same list.
    [[nodiscard]] int number_of_shares(const std::vector<double>& shares);
    /// The list of those that ask for none. Empty: even.
    void set_routing_shares(const std::vector<double>& shares);
    /// The shares of uneven routing where all layers are alike, and which ranks and nodes a token's rows go to: these
    /// before any unroll.
    void set_routing(const models::RoutingLoad& load);

    /// From here on a group that is unrolled by itself shares full links with none of its siblings. Before any unroll.
    void let_groups_act_alone();

    /// Keeps what a model needs. Before any unroll.
    void be_model();

    /// From here on loads() are those of all links, never of one block that stands for others alike. Before any unroll,
    /// and not with a model.
    void list_all_links();

    /// Groups that the layout does not have, all of the same size, which start together as siblings do (job_groups.hpp:
    /// kListedGroups). What is returned takes the place of the stage in unroll(), the number of one of them that of
    /// `member`. `pairs`: messages, {from, to}. Requires list_all_links().
    [[nodiscard]] int list_groups(const std::vector<std::vector<int>>& siblings, bool pairs);

    /// Unrolls a communication of all groups of `kind` in `stage`; the algorithm is the stack's for this kind, size and
    /// group, kAuto the fastest. `scale` multiplies the bytes (those of the busiest rank); an all-to-all over groups of
    /// as many ranks as there are `shares` (number_of_shares; 0: even) is uneven instead, where it is direct or
    /// pairwise over one level: every flow moves what its receiver's share gives it, and `scale` multiplies copies to
    /// and from the host only. Groups of one rank give no phases. `member`: kAllSiblings, or the number of one group
    /// among groups_of(layout, group, stage), by itself.
    [[nodiscard]] Transfer unroll(schedule::CommKind comm, models::GroupKind group, int stage, double bytes,
                                  double scale = 1, int member = kAllSiblings, int shares = kUsualShares);
    /// The same with an algorithm that the caller chooses: kAuto the fastest with these levels (0: any).
    [[nodiscard]] Transfer unroll_as(AlgorithmChoice choice, schedule::CommKind comm, models::GroupKind group,
                                     int stage, double bytes, double scale = 1, int member = kAllSiblings,
                                     int shares = kUsualShares);

    /// Rate of every pattern (bytes/s of each of its flows, which advance together) while exactly these are active,
    /// max-min fair over all links. Cached by set. The span returned is valid until the next call. Order of
    /// `active` does not matter to the result. A pattern may be there once for each kind of group that it was unrolled
    /// for.
    [[nodiscard]] std::span<const double> rates(std::span<const PatternId> active);
    /// Rate with no other pattern active, in bytes/s.
    [[nodiscard]] double solo_rate(PatternId pattern) const;
    /// Time of a transfer when nothing else is active: sum of latency + bytes / solo_rate.
    [[nodiscard]] double solo_time_s(const Transfer& transfer) const;
    /// The same on the simulator's clock: every phase rounded as the engine rounds it. `repeat` times in succession.
    [[nodiscard]] Picoseconds solo_duration(const Transfer& transfer, int repeat = 1) const;
    /// True if the two share a link that all patterns made so far, each active once, could fill; of a pattern with
    /// itself, always.
    [[nodiscard]] bool can_slow(PatternId a, PatternId b) const;
    /// True if no pattern in `others` (apart from itself) can slow this one.
    [[nodiscard]] bool is_disjoint(PatternId pattern, std::span<const PatternId> others) const;

    /// Flows (weighted) on each link; none for kWorld. Of one block where all blocks are alike (PatternLoads says so).
    [[nodiscard]] const PatternLoads& loads(PatternId pattern) const;
    /// The link that bounds its solo rate.
    [[nodiscard]] std::uint32_t bottleneck(PatternId pattern) const;
    [[nodiscard]] std::size_t sibling_count(models::GroupKind group, int stage);
    [[nodiscard]] const Fabric& fabric() const;
    [[nodiscard]] std::size_t pattern_count() const;

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace auspex::network
