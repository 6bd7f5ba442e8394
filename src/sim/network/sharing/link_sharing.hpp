#pragma once
/// @file Rates of transfers that start and stop, solved again only for those that a change can affect.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/sharing/max_min.hpp"

namespace auspex::network {

/// Loads and solo rate of one active transfer. The loads must outlive it.
struct Demand {
    LoadList loads;
    double solo_rate = 0;  ///< bytes/s with no other transfer active
};

/// A link can slow its users only if it could not carry all of them at their solo rates ("contended"): others are left
/// out, and a change affects only those connected to it by contended links. The rates are those of max_min_rates
/// over all active, but for rounding where the demand on a link is exactly its capacity.
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
    struct User {
        Id id;
        std::uint32_t load;  ///< which of its loads is on the link
    };
    struct Active {
        Demand demand;
        std::vector<std::uint32_t> user_positions;  ///< by load: where it stands among the link's users
        double rate = 0;
        bool alive = false, started = false;
        std::uint32_t mark = 0;
    };
    struct Link {
        double capacity = 0;
        double demand = 0;  ///< sum of load * solo_rate
        std::vector<User> users;
        std::uint32_t mark = 0, index = 0;
        [[nodiscard]] bool is_contended() const;
    };
    void reach(Id id);
    void reach_users(std::uint32_t link);
    void solve_reached();

    std::vector<Active> active_;
    std::vector<Link> links_;
    std::vector<Id> free_, started_, reached_, changed_;
    std::vector<std::uint32_t> dirty_links_, reached_links_;
    std::uint32_t mark_ = 0;
    std::uint64_t solved_ = 0;
    // scratch of one solution
    std::vector<double> capacities_;
    std::vector<LinkLoad> loads_;
    std::vector<std::size_t> first_;
    std::vector<LoadList> classes_;
};

}  // namespace auspex::network
