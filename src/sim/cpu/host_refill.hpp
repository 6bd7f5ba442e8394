#pragma once
/// @file What a core's own caches and address translations keep of a rank while others have the core.
#include <vector>

#include "models/cpu/host.hpp"
#include "sim/cpu/host_places.hpp"

namespace auspex {

/// A rank that comes back to its core finds missing what others have pushed out meanwhile:
///   held * missing_share(core_reach, held + what others went through)
/// with `held` the bytes that it had there, at most core_reach. Of a kernel's near bytes (those that are not far,
/// CpuCall::far_bytes) half has just been written by the kernel before it; the other half costs refill_byte_s a byte
/// until what is missing has been gone through. Nothing is lost where no other rank runs in between, where ranks are
/// not bound to cores, or where the machine has no refill.
class HostRefill {
 public:
    HostRefill(const Host& host, const HostPlaces& places, bool bound);

    /// The rank gets its core.
    void enter(int rank);
    /// The rank gives it away, or loses it.
    void leave(int rank);
    /// More seconds of a kernel that goes through so many bytes, `near_bytes` of them near.
    [[nodiscard]] double refill_s(int rank, double bytes, double near_bytes);

 private:
    struct Kept {
        double held = 0, missing = 0;
        double at_leave = 0;  ///< what the core had gone through then
    };
    double& core_bytes(int rank);

    const Host& host_;
    const HostPlaces& places_;
    bool works_;
    std::vector<Kept> kept_;     ///< by rank
    std::vector<double> cores_;  ///< bytes that each has gone through, over all computers
};

}  // namespace auspex
