#pragma once
/// @file Two neighbouring groups of Aurora, and ranks of one that all send to the other.
#include "packets/closed_forms.hpp"
#include "packets/ranks.hpp"

namespace auspex::packets {

/// 166 groups of 32 switches with 16 terminals, two links of 25 GB/s between any two groups, one between two switches
/// of a group (arXiv:2512.04291); other jobs take a fifth of every global link, which is taken off its rate. 96 ranks
/// of 6.2 GB/s. That the destination of each rank is another switch, and that the 164 other groups are idle, is
/// assumed.
[[nodiscard]] Experiment aurora_pair(double bias_s);

/// How a window is given back: as one, in two halves, or packet by packet, in order or not.
enum class Return { kWhole, kHalves, kInOrder, kAnyOrder };

/// Ranks whose rate b alone is their pace (a NIC or a copy limits them; their window would allow more).
[[nodiscard]] Transport paced(double bytes_per_s, double window_bytes, Return by, const Timing& timing);

/// Ranks whose rate b alone is window / round trip (acknowledgements are slow; their NIC sends at 25 GB/s).
[[nodiscard]] Transport latency_bound(double bytes_per_s, double window_bytes, Return by, const Timing& timing);

/// The minimal path of a packet with all five links, empty.
[[nodiscard]] double empty_path_s(const Timing& timing);

/// Closed forms of what `run` plays.
[[nodiscard]] FullPair full_pair(const Experiment& experiment);
[[nodiscard]] RankAlone rank_alone(const Experiment& experiment);

}  // namespace auspex::packets
