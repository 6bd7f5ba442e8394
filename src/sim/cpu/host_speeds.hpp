#pragma once
/// @file How fast work goes on cores that share last-level cache and memory.
#include <cstdint>
#include <vector>

#include "sim/cpu/host_actions.hpp"
#include "sim/cpu/host_events.hpp"
#include "sim/cpu/host_places.hpp"

namespace auspex {

/// Work under way, by rank. Rates are max-min fair over the cores, the cache and the memory of a computer, with each
/// work's needs per second alone as its loads; a core gives 1 or, while all of its computer compute, host.busy_speed.
/// Work alone on its computer never waits for cache or memory: its law was measured so.
class HostSpeeds {
 public:
    /// `bound`: ranks share their own core; else all cores of the computer.
    HostSpeeds(const Host& host, const HostPlaces& places, bool bound, HostEvents& events);

    void start(int rank, const HostWork& work, Picoseconds now);
    /// A rank that only waits, but takes its share of a core that is shared continuously.
    void spin(int rank, Picoseconds now);
    /// Takes the rank's work, or its spinning, away; what is left of it.
    HostWork stop(int rank, Picoseconds now);
    [[nodiscard]] bool has_ended(const HostEvent& event) const;
    /// To be called after all events of a moment.
    void settle(Picoseconds now);

 private:
    struct Running {
        HostWork alone;                ///< as given; its bytes over its seconds are its needs
        double left = 0;               ///< seconds alone
        double cache = 0, memory = 0;  ///< bytes per second
        double rate = -1;              ///< -1: not yet known
        Picoseconds since = 0;
        std::uint32_t stamp = 0;
        bool works = false, spins = false;
    };
    struct Computer {
        std::vector<int> running;
        bool changed = false;
    };
    Computer& computer_of(int rank) {
        return computers_[static_cast<std::size_t>(places_.of_rank[static_cast<std::size_t>(rank)].computer)];
    }
    Running& running(int rank) { return running_[static_cast<std::size_t>(rank)]; }
    void enter(int rank);
    void advance(Running& r, Picoseconds now) const;
    [[nodiscard]] double core_speed(const Computer& computer) const;
    [[nodiscard]] std::vector<double> rates(const Computer& computer) const;
    void settle(Computer& computer, Picoseconds now);

    const Host& host_;
    const HostPlaces& places_;
    bool bound_;
    std::vector<Running> running_;
    std::vector<Computer> computers_;
    HostEvents& events_;
};

}  // namespace auspex
