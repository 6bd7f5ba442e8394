#pragma once
/// @file What of its sequences a rank has where context parallelism deals their tokens out, and whom they attend to.
#include <cstdint>
#include <vector>

#include "exec/kernels/attention.hpp"
#include "exec/state/shapes.hpp"
#include "models/context/dealt_tokens.hpp"

namespace auspex::exec {

struct ContextPlace {
    std::size_t cp = 1, index = 0;
    std::size_t all_to_all = 1, ring = 1;  ///< ranks that exchange heads for tokens, that pass keys on
    std::vector<models::TokenRun> runs;    ///< positions of a sequence that are this rank's, in the order of rows
    std::vector<std::uint32_t> positions;  ///< the same one by one; empty with cp = 1
    std::vector<AttendedRows> parts;       ///< its queries with all keys; in a ring with its own, then with those
                                           ///< that come, one after another
    [[nodiscard]] bool gathers() const { return cp > 1 && all_to_all * ring == 1; }
};

/// Rows of several ranks lie one rank behind the other.
[[nodiscard]] ContextPlace context_place(const models::Workload& workload, const models::Plan& plan,
                                         const RankShapes& shapes, int cp_index);

/// Positions of a rank's rows, for what depends on them.
[[nodiscard]] inline RowPositions row_positions(const ContextPlace& place, const RankShapes& shapes) {
    return place.positions.empty() ? RowPositions(shapes.sequence) : RowPositions(std::span(place.positions));
}

}  // namespace auspex::exec
