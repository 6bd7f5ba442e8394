#pragma once
/// @file Ranks that send messages to other groups, at their own pace or as a window lets them, and what was seen of it.
#include <cstdint>
#include <limits>
#include <vector>

#include "packets/packet_network.hpp"

namespace auspex::packets {

/// How a rank sends. At most `window_bytes` of it are on their way. A window is given back
/// - packet by packet, in whatever order they arrive (`chunk_bytes` 0), or
/// - in order and in chunks: one is given back when it and all before it are whole. Chunks of one packet are a window
///   that is acknowledged in order; one chunk as large as the window is a message that is waited for before the next.
struct Transport {
    double bytes_per_s = 6.2e9;  ///< pace: packets are sent at least packet_bytes / this apart
    bool is_poisson = false;     ///< gaps between packets are exponential with that mean, instead of equal
    double window_bytes = std::numeric_limits<double>::infinity();
    double chunk_bytes = 0;
    double turnaround_s = 0;  ///< from the arrival of a packet until its sender knows
};

/// Who sends to whom: in each of the first `sending_groups` groups so many ranks, dealt evenly over its terminals.
struct Pattern {
    int sending_groups = 1;
    int ranks = 96;  ///< of a group
    int shift = 1;   ///< to the same terminal of the group this many further
    int switch_shift =
        0;  ///< and of the switch this many further in that group; both 0: each packet to any other terminal
};

struct Experiment {
    Shape shape;
    Timing timing;
    Routing routing;
    Transport transport;
    Pattern pattern;
    double message_bytes = 128 * 1024;
    int messages = std::numeric_limits<int>::max();  ///< that a rank sends; if this is finite all begin together
    double warm_s = 0, until_s = 1e-3;               ///< what is sent and arrives between these counts
    std::uint64_t seed = 1;
};

/// A delay is what a packet took, less what the minimal path takes when nothing waits.
struct Outcome {
    double sent_bytes_per_s = 0, rank_bytes_per_s = 0;  ///< of a rank: sent, and arrived
    double minimal_bytes_per_s = 0;                     ///< sent minimally, all ranks together
    double minimal_share = 0;
    double delay_s = 0, minimal_delay_s = 0, detour_delay_s = 0;  ///< means: of all packets, of those sent so
    double last_delay_s = 0,
           last_delay_max_s = 0;  ///< of messages: complete so much later than their last packet's due
    std::uint64_t packets = 0, whole_messages = 0;
    double busiest_load = 0;  ///< what comes to the link that most comes to, over what it can send
};

[[nodiscard]] Outcome run(const Experiment& experiment);

}  // namespace auspex::packets
