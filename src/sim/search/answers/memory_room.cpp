/// @file Shares of the memory, plan by plan.
#include "sim/search/answers/memory_room.hpp"

#include <algorithm>

namespace auspex::search {

MemoryRoom memory_room(const models::Machine& machine, const std::vector<RankedPlan>& ranked, double capacity_bytes) {
    const auto free_share = [&](const RankedPlan& plan) {
        return 1 - plan.prediction.memory.peak_bytes / capacity_bytes;
    };
    MemoryRoom room;
    room.free_share = free_share(ranked.front());
    room.reserved_bytes = machine.tile.reserved_bytes + kMemoryRoom * capacity_bytes;
    const auto roomier =
        std::ranges::find_if(ranked, [&](const RankedPlan& plan) { return free_share(plan) >= kMemoryRoom; });
    if (roomier != ranked.end()) {
        room.roomier = static_cast<std::size_t>(roomier - ranked.begin());
        room.behind = roomier->prediction.step_time_s / ranked.front().prediction.step_time_s - 1;
    }
    return room;
}

}  // namespace auspex::search
