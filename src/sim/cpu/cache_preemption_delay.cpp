/// @file Bytes that ranks of a core evict from one another's caches.
#include "sim/cpu/cache_preemption_delay.hpp"

#include <algorithm>

namespace auspex::cpu {

CachePreemptionDelay::CachePreemptionDelay(const models::CpuModel& cpu, const RankLocations& locations, bool bound)
    : cpu_(cpu),
      locations_(locations),
      is_enabled_(bound && cpu.reload_byte_s > 0),
      footprints_(locations.of_process.size()),
      traffic_of_core_(static_cast<std::size_t>(locations.computers * cpu.cores)) {}

double& CachePreemptionDelay::core_traffic(int rank) {
    const RankLocation& location = locations_.of_process[static_cast<std::size_t>(rank)];
    return traffic_of_core_[static_cast<std::size_t>(location.computer * cpu_.cores + location.core)];
}

void CachePreemptionDelay::switch_in(int rank) {
    Footprint& footprint = footprints_[static_cast<std::size_t>(rank)];
    const double others = core_traffic(rank) - footprint.traffic_at_switch_out;
    if (is_enabled_ && others > 0) {
        const double lost =
            footprint.resident * models::miss_ratio(cpu_.core_capacity_bytes, footprint.resident + others);
        footprint.resident -= lost;
        footprint.evicted += lost;
    }
}

void CachePreemptionDelay::switch_out(int rank) {
    footprints_[static_cast<std::size_t>(rank)].traffic_at_switch_out = core_traffic(rank);
}

double CachePreemptionDelay::delay_s(int rank, double bytes, double warm_bytes) {
    if (!is_enabled_) {
        return 0;
    }
    Footprint& footprint = footprints_[static_cast<std::size_t>(rank)];
    core_traffic(rank) += bytes;
    const double reread = (1 - cpu_.fresh_share) * warm_bytes, refilled = std::min(footprint.evicted, reread);
    footprint.evicted -= refilled;
    footprint.resident = std::min(footprint.resident + reread, cpu_.core_capacity_bytes);
    return refilled * cpu_.reload_byte_s;
}

}  // namespace auspex::cpu
