#pragma once
/// @file Plays a graph in virtual time: nodes begin when what they wait for has ended, transfers share links max-min
/// fairly (LinkSharing).
#include <vector>

#include "schedule/timeline.hpp"
#include "sim/graph/graph_costs.hpp"
#include "sim/network/use/link_use.hpp"

namespace auspex::graph {

struct PlayOptions {
    /// As ASTRA-sim issues nodes: of a rank one send or collective at a time, those first that come first in the
    /// program. Otherwise all that can be under way are, but no more than 256 of a rank.
    bool one_communication = false;
    std::vector<int> recorded = {};  ///< ranks whose timeline is kept
};

/// Where a rank's time goes; the three sum to the step.
struct RankTimes {
    Picoseconds compute = 0;        ///< something is computed
    Picoseconds communication = 0;  ///< nothing is, and bytes or latencies of its sends or collectives are under way
    Picoseconds idle = 0;           ///< neither: it waits for others, or has ended
};

struct GraphResult {
    Picoseconds step = 0;
    std::vector<RankTimes> ranks;
    std::vector<network::LinkUse> link_use;  ///< of all communications, the most crowded kind first
    std::uint64_t events = 0;
    schedule::Timeline timeline;  ///< of the recorded ranks: "compute", "host", and as many lanes as run side by side
};

/// Of a rank one kCompute and one kHost node run at a time, of several that could the first in the program. A
/// collective begins when all members have reached it; while it is under way compute runs at 1 -
/// tile.collective_compute_share. A send ends when its bytes have arrived; a receive ends when a message is there. The
/// machine's expected noise (expected_noise_s) is added to every collective and send. Deterministic. Requires a job
/// that check_job has nothing against. Throws InputError where ranks wait for one another forever, where so many
/// communications share links that their rates take too long to find, and for a step of kLongestTime or more.
[[nodiscard]] GraphResult play(const GraphJob& job, GraphCosts& costs, const models::Machine& machine,
                               const PlayOptions& options);

}  // namespace auspex::graph
