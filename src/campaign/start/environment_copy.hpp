#pragma once
/// @file Programs and libraries, packed, from the shared file system to every node.
#include "models/startup/startup.hpp"

namespace auspex::campaign {

/// Parts, one after another. One node reads the archive; in each round every node that has it sends it to one that has
/// not, ceil(log2 nodes) rounds of n = 1, 2, 4, … copies, the last of what is left; all unpack it at once.
///   read = bytes / node_read,  copy = rounds x bytes / copy,  tail = sum over rounds of copy_tail x H(n)
///   unpack = bytes / unpack
/// A round is over with its slowest copy: of n times with an exponential tail of mean copy_tail the longest is
/// copy_tail x H(n) behind the wire's own in the mean, H(n) = 1 + 1/2 + … + 1/n.
/// Ignores: a node that starts its next copy before the round's slowest is done; contention in the fabric.
struct EnvironmentCopy {
    int rounds = 0;
    double read_s = 0, copy_s = 0, tail_s = 0, unpack_s = 0;

    [[nodiscard]] double total_s() const { return read_s + copy_s + tail_s + unpack_s; }
};
/// Requires nodes >= 1.
[[nodiscard]] EnvironmentCopy environment_copy(const models::EnvironmentFacts& environment,
                                               double node_read_bytes_per_s, int nodes);

}  // namespace auspex::campaign
