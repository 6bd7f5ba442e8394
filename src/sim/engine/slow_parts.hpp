#pragma once
/// @file Parts of a job that a user names as slow: tiles and links.
#include <cstddef>
#include <string>
#include <vector>

namespace auspex::models {
struct Layout;
}
namespace auspex::network {
class Fabric;
}

namespace auspex::engine {

/// A tile that the others in its groups have waited for.
struct SlowTile {
    int rank = 0, node = 0, stage = 0;
    double speed = 1;     ///< as drawn, and as asked for; 1: the median of the fleet
    double waited_s = 0;  ///< by the other members of its groups because it computed longer, the mean over all tiles
    double share = 0;     ///< of all such waiting
};

/// A link, slow by request, that transfers have waited for.
struct SlowLink {
    std::string name;
    double factor = 1;  ///< on its capacity
    double added_s =
        0;  ///< to transfers that it bounds, and to waits for those; over full capacity, the mean over tiles
};

/// A request to slow a part of the job, and what it has met: one tile, or links.
struct SlowRequest {
    std::string name;
    double factor = 1;
    int rank = -1;          ///< of the tile; -1: links
    std::size_t links = 0;  ///< how many
    double added_s = 0;     ///< to the step: over the same draw with this part alone at its normal speed
};

inline constexpr double kMinSlowFactor = 0.001;

struct SlowParts {
    std::vector<double> rank_factors;   ///< on the compute rate of each rank; empty: 1
    std::vector<double> link_factors;   ///< on the capacity of each link; empty: 1
    std::vector<SlowRequest> requests;  ///< what each has met
    std::vector<std::string> notes;     ///< the same in words
};

/// Requests "NAME=FACTOR", kMinSlowFactor <= FACTOR <= 1. "tile R": the tile of rank R computes at FACTOR of its
/// speed. Any other NAME: all links with such a name (matches_link_name) have FACTOR of their capacity; routes stay as
/// they are. Throws InputError for a broken request, a factor out of range, an unknown tile, node or group (with those
/// that there are), a name that no link has (with the nearest ones), and a part that two requests name.
[[nodiscard]] SlowParts find_slow_parts(const std::vector<std::string>& requests, const network::Fabric& fabric,
                                        const models::Layout& layout);

/// A word of `name` and the numbers behind it stay together ("node 3", "NIC 2", "to group 1"); the link's name holds
/// all of them in this order. Punctuation and capital letters do not count: "node 3 NIC 2" matches "node 3: nic, NIC 2
/// to wire".
[[nodiscard]] bool matches_link_name(const std::string& name, const std::string& link_name);

}  // namespace auspex::engine
