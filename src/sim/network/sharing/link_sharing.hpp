#pragma once
/// @file Rates of transfers that start and stop, solved again only for those that a change does affect.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/sharing/max_min_filling.hpp"

namespace auspex::network {

/// Loads and solo rate of one active transfer. The loads must outlive it.
struct Demand {
    LoadList loads;
    double solo_rate = 0;  ///< bytes/s with no other transfer active
};

/// A link can slow its users only if it could not carry all of them at their solo rates ("contended"): others are left
/// out. The rates are those of max_min_rates over all active, but for rounding where the demand on a link is exactly
/// its capacity.
///
/// What makes rates max-min fair can be seen on links one by one: each transfer has a full link, its bottleneck, on
/// which nobody is faster, or has its solo rate. So a change is solved for those transfers alone that start or lose
/// their bottleneck ("moving"), with the other users of their links held at the rates that they have. Who could then
/// not keep its rate, or whose bottleneck would let it rise, moves, too, and it is solved again, until all others are
/// held as they were. A ring over a thousand nodes has its bottleneck on one of them: what comes and goes on the others
/// does not touch it.
class LinkSharing {
 public:
    using Id = std::uint32_t;
    explicit LinkSharing(std::span<const double> capacities);

    [[nodiscard]] Id start(const Demand& demand);  ///< ids of ended transfers are reused
    void stop(Id id);
    /// After any number of starts and stops: the ids whose rates have changed (all that have started, too), rising.
    [[nodiscard]] std::span<const Id> update_rates();
    [[nodiscard]] double rate(Id id) const { return active_[id].rate; }
    [[nodiscard]] std::uint64_t solved() const { return solved_; }  ///< classes solved, over all calls

 private:
    static constexpr std::uint32_t kOwn = ~0U;  ///< as a bottleneck: its solo rate
    struct User {
        Id id;
        std::uint32_t load;  ///< which of its loads is on the link
    };
    struct Active {
        Demand demand;
        std::vector<std::uint32_t> user_positions;  ///< by load: where it stands among the link's users
        double rate = 0;
        std::uint32_t bottleneck = kOwn;
        bool alive = false, started = false;
        bool moves = false;                 ///< else held at its rate
        std::uint32_t mark = 0, index = 0;  ///< among reached_
    };
    struct Link {
        double capacity = 0;
        double demand = 0;  ///< sum of load * solo_rate
        std::vector<User> users;
        bool changed = false;               ///< since the last update, and contended then
        std::uint32_t mark = 0, index = 0;  ///< among reached_links_
        [[nodiscard]] bool is_contended() const;
    };
    void note_change(std::uint32_t link);
    void move(Id id);
    void reach(Id id);
    void reach_links(Id id);
    void solve_reached();
    void list_loads();
    void move_who_cannot_be_held();
    void settle();
    [[nodiscard]] bool is_reached(std::uint32_t bottleneck) const {
        return bottleneck != kOwn && links_[bottleneck].mark == mark_;
    }

    std::vector<Active> active_;
    std::vector<Link> links_;
    std::vector<Id> free_, started_, changed_;
    std::vector<Id> reached_, moving_;  ///< the second among the first
    std::vector<std::uint32_t> changed_links_, reached_links_;
    std::uint32_t mark_ = 0;
    std::uint64_t solved_ = 0;
    // of one solution
    MaxMinFilling filling_;
    std::span<const double> rates_;  ///< as reached_
    std::vector<double> capacities_;
    std::vector<LinkLoad> loads_;
    std::vector<std::size_t> end_;
    std::vector<LoadList> classes_;
};

}  // namespace auspex::network
