#pragma once
/// @file How fast work goes on cores that share last-level cache and memory.
#include <cstdint>
#include <vector>

#include "sim/cpu/actions.hpp"
#include "sim/cpu/events.hpp"
#include "sim/cpu/rank_locations.hpp"

namespace auspex::cpu {

/// Work under way, by rank. Rates (1: as fast as alone) are max-min fair over the cores, the last-level cache and the
/// memory of a computer. A work loads each with what it takes of it per second when alone. A core's capacity is 1 or,
/// while all cores of its computer compute, host.busy_speed. Work alone on its computer never waits for cache or
/// memory, for its cost model was measured so.
class CpuContention {
 public:
    /// `bound`: ranks share their own core; else all cores of the computer.
    CpuContention(const models::CpuModel& cpu, const RankLocations& locations, bool bound, CpuEventQueue& events);

    void start(int rank, const CpuWork& work, Picoseconds now);
    /// A rank that only waits, but takes its share of a core that is shared continuously.
    void spin(int rank, Picoseconds now);
    /// Ends the rank's work, or its spinning; returns what is left of the work.
    CpuWork stop(int rank, Picoseconds now);
    [[nodiscard]] bool has_ended(const CpuEvent& event) const;
    /// To be called after all events of one time.
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
