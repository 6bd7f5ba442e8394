#pragma once
/// @file Parts of a job that a user names as slow: tiles and links.
#include <string>
#include <vector>

#include "models/layout.hpp"
#include "sim/fabric.hpp"
#include "sim/prediction.hpp"

namespace auspex {

inline constexpr double kLeastSlowFactor = 0.001;

struct SlowParts {
    std::vector<double> rank_factors;   ///< on the compute rate of each rank; empty: 1
    std::vector<double> link_factors;   ///< on the capacity of each link; empty: 1
    std::vector<SlowRequest> requests;  ///< what each has met
    std::vector<std::string> notes;     ///< the same in words
};

/// Requests "NAME=FACTOR", kLeastSlowFactor <= FACTOR <= 1. "tile R": the tile of rank R computes at FACTOR of its
/// speed. Any other NAME: all links with such a name (matches_link_name) have FACTOR of their capacity; routes stay as
/// they are. Throws InputError for a broken request, a factor out of range, an unknown tile, node or group (with those
/// that there are), a name that no link has (with the nearest ones), and a part that two requests name.
[[nodiscard]] SlowParts find_slow_parts(const std::vector<std::string>& requests, const Fabric& fabric,
                                        const Layout& layout);

/// A word of `name` and the numbers behind it stay together ("node 3", "NIC 2", "to group 1"); the link's name holds
/// all of them in this order. Punctuation and capital letters do not count: "node 3 NIC 2" matches "node 3: nic, NIC 2
/// to wire".
[[nodiscard]] bool matches_link_name(const std::string& name, const std::string& link_name);

}  // namespace auspex
