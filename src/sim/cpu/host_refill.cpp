/// @file Bytes that ranks of a core take from one another.
#include "sim/cpu/host_refill.hpp"

#include <algorithm>

namespace auspex {

HostRefill::HostRefill(const Host& host, const HostPlaces& places, bool bound)
    : host_(host),
      places_(places),
      works_(bound && host.refill_byte_s > 0),
      kept_(places.of_rank.size()),
      cores_(static_cast<std::size_t>(places.computers * host.cores)) {}

double& HostRefill::core_bytes(int rank) {
    const HostPlace& place = places_.of_rank[static_cast<std::size_t>(rank)];
    return cores_[static_cast<std::size_t>(place.computer * host_.cores + place.core)];
}

void HostRefill::enter(int rank) {
    Kept& kept = kept_[static_cast<std::size_t>(rank)];
    const double others = core_bytes(rank) - kept.at_leave;
    if (works_ && others > 0) {
        const double lost = kept.held * missing_share(host_.core_reach_bytes, kept.held + others);
        kept.held -= lost;
        kept.missing += lost;
    }
}

void HostRefill::leave(int rank) { kept_[static_cast<std::size_t>(rank)].at_leave = core_bytes(rank); }

double HostRefill::refill_s(int rank, double bytes, double near_bytes) {
    if (!works_) {
        return 0;
    }
    constexpr double kFresh = 0.5;
    Kept& kept = kept_[static_cast<std::size_t>(rank)];
    core_bytes(rank) += bytes;
    const double fresh = kFresh * near_bytes, refilled = std::min(kept.missing, fresh);
    kept.missing -= refilled;
    kept.held = std::min(kept.held + fresh, host_.core_reach_bytes);
    return refilled * host_.refill_byte_s;
}

}  // namespace auspex
