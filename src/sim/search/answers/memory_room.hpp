#pragma once
/// @file What the best plan leaves of the memory, and which plan leaves enough.
#include <cstddef>
#include <optional>
#include <vector>

#include "sim/search/answers/ranked_plans.hpp"

namespace auspex::search {

/// Of a tile's memory, what a plan should leave: predicted peaks of published runs are off by about as much in the
/// mean (docs/validation.md).
inline constexpr double kMemoryRoom = 0.1;

struct MemoryRoom {
    double free_share = 0;               ///< of the memory, that the first plan leaves; below 0: it does not fit
    std::optional<std::size_t> roomier;  ///< the first that leaves kMemoryRoom, by its place; none: none of them does
    double behind = 0;                   ///< its step over that of the first plan, less 1
    double reserved_bytes = 0;           ///< machine.tile.reserved with which all that fits leaves kMemoryRoom

    [[nodiscard]] bool is_tight() const { return free_share < kMemoryRoom; }
};

/// Of plans in their order, one at least, where a tile has `capacity_bytes` for them.
[[nodiscard]] MemoryRoom memory_room(const models::Machine& machine, const std::vector<RankedPlan>& ranked,
                                     double capacity_bytes);

}  // namespace auspex::search
