#pragma once
/// @file An order of passes, played with given times.
#include <vector>

#include "base/time.hpp"
#include "schedule/orders/pipeline_pass.hpp"
#include "sim/orders/order_program.hpp"

namespace auspex::orders {

/// A pass, or the backward one of a pair, when it ran.
struct PlayedPass {
    schedule::StagePass pass;
    bool is_pair = false;
    int beside = -1, stage_beside = -1;  ///< of a pair: micro-batch and stage of the forward pass
    Picoseconds start = 0, end = 0;
};

struct PlayedOrder {
    std::vector<std::vector<PlayedPass>> ranks;
    Picoseconds makespan = 0;  ///< from the first pass of all to the last
    /// The longest time from a rank's first pass to its last one. An optimizer that does not wait for other ranks
    /// (zb-h2's, with its check afterwards) makes steps follow one another at this pace.
    Picoseconds span = 0;
    double bubble_rate = 0;  ///< (span - the passes of that rank) / span
};

/// The order, which check_order takes, on the engine that plays steps. Times of passes are above 0. Throws InputError
/// for one that takes kLongestTime or more.
[[nodiscard]] PlayedOrder play_order(const schedule::PipelineOrder& order, const PassTimes& times);

}  // namespace auspex::orders
