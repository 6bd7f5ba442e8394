#pragma once
/// @file How fast work goes on cores that share last-level cache and memory.
#include <cstdint>
#include <vector>

#include "sim/cpu/actions.hpp"
#include "sim/cpu/events.hpp"
#include "sim/cpu/rank_locations.hpp"

namespace auspex::cpu {

/// Work under way, by rank. Rates are max-min fair over the cores, the cache and the memory of a computer, with each
/// work's needs per second alone as its loads; a core gives 1 or, while all of its computer compute, host.busy_speed.
/// Work alone on its computer never waits for cache or memory: its law was measured so.
class CpuContention {
 public:
    /// `bound`: ranks share their own core; else all cores of the computer.
    CpuContention(const models::CpuModel& cpu, const RankLocations& locations, bool bound, CpuEventQueue& events);

    void start(int rank, const CpuWork& work, Picoseconds now);
    /// A rank that only waits, but takes its share of a core that is shared continuously.
    void spin(int rank, Picoseconds now);
    /// Takes the rank's work, or its spinning, away; what is left of it.
    CpuWork stop(int rank, Picoseconds now);
    [[nodiscard]] bool has_ended(const CpuEvent& event) const;
    /// To be called after all events of a moment.
    void update_rates(Picoseconds now);

 private:
    struct Running {
        CpuWork work;                                          ///< as given; its bytes over its seconds are its needs
        double remaining_s = 0;                                ///< seconds alone
        double cache_bytes_per_s = 0, memory_bytes_per_s = 0;  ///< bytes per second
        double rate = -1;                                      ///< -1: not yet known
        Picoseconds since = 0;
        std::uint32_t generation = 0;
        bool is_computing = false, is_spinning = false;
    };
    struct Computer {
        std::vector<int> running;
        bool changed = false;
    };
    Computer& computer_of(int rank) {
        return computers_[static_cast<std::size_t>(locations_.of_process[static_cast<std::size_t>(rank)].computer)];
    }
    Running& running(int rank) { return running_[static_cast<std::size_t>(rank)]; }
    void enter(int rank);
    void advance(Running& r, Picoseconds now) const;
    [[nodiscard]] double core_speed(const Computer& computer) const;
    [[nodiscard]] std::vector<double> rates(const Computer& computer) const;
    void update_rates(Computer& computer, Picoseconds now);

    const models::CpuModel& cpu_;
    const RankLocations& locations_;
    bool bound_;
    std::vector<Running> running_;
    std::vector<Computer> computers_;
    CpuEventQueue& events_;
};

}  // namespace auspex::cpu
