#pragma once
/// @file Parts of a job that a user names as slow: tiles and links.
#include <string>
#include <vector>

#include "sim/fabric.hpp"

namespace auspex {

struct SlowParts {
    std::vector<double> rank_factors;  ///< on the compute rate of each rank; empty: 1
    std::vector<double> link_factors;  ///< on the capacity of each link; empty: 1
    std::vector<std::string> notes;    ///< what each request has met
};

/// Requests "NAME=FACTOR", 0 < FACTOR <= 1. "tile R": the tile of rank R computes at FACTOR of its speed. Any other
/// NAME: all links with such a name (matches_link_name) have FACTOR of their capacity; routes stay as they are. Factors
/// of several requests multiply. Throws InputError for a broken request, an unknown rank, and a name that no link has,
/// with the nearest ones.
[[nodiscard]] SlowParts find_slow_parts(const std::vector<std::string>& requests, const Fabric& fabric, int tiles);

/// A word of `name` and the numbers behind it stay together ("node 3", "NIC 2", "to group 1"); the link's name holds
/// all of them in this order. Punctuation and capital letters do not count: "node 3 NIC 2" matches "node 3: nic, NIC 2
/// to wire".
[[nodiscard]] bool matches_link_name(const std::string& name, const std::string& link_name);

}  // namespace auspex
