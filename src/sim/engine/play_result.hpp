#pragma once
/// @file What a play finds.
#include <cstdint>
#include <map>
#include <vector>

#include "base/time.hpp"
#include "schedule/losses.hpp"

namespace auspex::engine {

struct PlayResult {
    bool is_longer = false;  ///< the step takes longer than was asked about: nothing else of it is known
    Picoseconds step = 0;
    Picoseconds forward_backward = 0;         ///< end of the last backward task of any actor
    std::vector<schedule::LossTimes> losses;  ///< by actor (role, or rank of the unfolded lens); each sums to `step`
    /// By operation_name_index, sum over actors: how much longer transfers that shared links took than they would have
    /// alone.
    std::vector<double> shared_link_excess_s;
    std::vector<double> waited_for_s;  ///< by actor: how long others in its groups have waited for it, summed
    /// Unfolded, by link that is slow by request: how much longer transfers that it bounds took than at full capacity,
    /// and others waited for those; sum over actors.
    std::map<std::uint32_t, double> slow_link_s;
    std::uint64_t events = 0;  ///< tasks ended and messages sent, and every change of a shared transfer
};

}  // namespace auspex::engine
