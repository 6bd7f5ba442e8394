#pragma once
/// @file A collective as what each rank does: rounds in which it sends to some ranks and receives from others.
#include <vector>

#include "cases.hpp"
#include "sim/network/fabric/fabric.hpp"

namespace auspex::simgrid_check {

struct Send {
    int to;  ///< rank
    double bytes;
};

/// Begins when the rank's round before has ended; ends when all of its messages have arrived.
struct Round {
    std::vector<Send> sends;
    std::vector<int> receives;  ///< from these ranks
    int times = 1;              ///< in a row
};

/// One thread of a rank. Ranks of a double binary tree have two; messages stay within a channel.
struct Track {
    int rank = 0;
    int channel = 0;
    std::vector<Round> rounds;
};

/// Messages are those of phases_of with the chunks of bare_stack(), one form apart that Auspex simplifies: a pairwise
/// exchange has all its rounds at any number of ranks.
[[nodiscard]] std::vector<Track> tracks_of(const Collective& collective, const Layout& layout, const Fabric& fabric);

/// Rounds of all tracks if equally many, so that they can be held in step; else 0.
[[nodiscard]] int common_rounds(const std::vector<Track>& tracks);

}  // namespace auspex::simgrid_check
