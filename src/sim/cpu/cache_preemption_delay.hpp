#pragma once
/// @file What a core's own caches and address translations keep of a rank while others have the core.
#include <vector>

#include "models/cpu/cpu_model.hpp"
#include "sim/cpu/rank_locations.hpp"

namespace auspex::cpu {

/// A rank that comes back to its core finds missing what others have pushed out meanwhile:
///   held * miss_ratio(core_reach, held + what others went through)
/// with `held` the bytes that it had there, at most core_reach. Of a kernel's near bytes (those that are not far,
/// CpuCall::far_bytes) the share fresh_share has just been written by the kernel before it; the others cost
/// reload_byte_s a byte until what is missing has been gone through. Nothing is lost where no other rank runs in
/// between, where ranks are not bound to cores, or where the machine has no refill.
class CachePreemptionDelay {
 public:
    CachePreemptionDelay(const models::CpuModel& cpu, const RankLocations& locations, bool bound);

    /// The rank gets its core.
    void switch_in(int rank);
    /// The rank gives it away, or loses it.
    void switch_out(int rank);
    /// More seconds of a kernel that goes through so many bytes, `near_bytes` of them near.
    [[nodiscard]] double delay_s(int rank, double bytes, double near_bytes);

 private:
    struct Footprint {
        double resident = 0, evicted = 0;
        double traffic_at_switch_out = 0;  ///< what the core had gone through then
    };
    double& core_traffic(int rank);

    const models::CpuModel& cpu_;
    const RankLocations& locations_;
    bool is_enabled_;
    std::vector<Footprint> footprints_;    ///< by rank
    std::vector<double> traffic_of_core_;  ///< bytes that each has gone through, over all computers
};

}  // namespace auspex::cpu
