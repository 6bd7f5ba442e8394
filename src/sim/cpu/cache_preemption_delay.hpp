#pragma once
/// @file What a core's own caches and address translations keep of a rank while others have the core.
#include <vector>

#include "models/cpu/cpu_model.hpp"
#include "sim/cpu/rank_locations.hpp"

namespace auspex::cpu {

/// A rank that gets its core back finds that others have evicted, in bytes,
///   resident * miss_ratio(core_capacity_bytes, resident + traffic of the others)
/// where `resident`, at most core_capacity_bytes, is what its caches held when it lost the core. The share fresh_share
/// of a kernel's warm bytes (those not in CpuCall::cold_bytes) has just been written by the kernel before it; the
/// others cost reload_byte_s (s/B) more until all evicted bytes are reloaded. Nothing is evicted where no other rank
/// runs in between, where ranks are not bound to cores, or where the machine's reload_byte_s is 0.
class CachePreemptionDelay {
 public:
    CachePreemptionDelay(const models::CpuModel& cpu, const RankLocations& locations, bool bound);

    /// The rank gets its core.
    void switch_in(int rank);
    /// The rank gives it away, or loses it.
    void switch_out(int rank);
    /// Seconds that a kernel takes longer; it goes through `bytes`, of which `warm_bytes` are warm.
    [[nodiscard]] double delay_s(int rank, double bytes, double warm_bytes);

 private:
    struct Footprint {
        double resident = 0, evicted = 0;
        double traffic_at_switch_out = 0;  ///< traffic_of_core_ at that time
    };
    double& core_traffic(int rank);

    const models::CpuModel& cpu_;
    const RankLocations& locations_;
    bool is_enabled_;
    std::vector<Footprint> footprints_;    ///< by rank
    std::vector<double> traffic_of_core_;  ///< bytes that ranks of each core have gone through, over all computers
};

}  // namespace auspex::cpu
