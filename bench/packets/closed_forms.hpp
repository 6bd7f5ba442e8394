#pragma once
/// @file What the model of packets is compared with: one queue, and the fluid picture of a full pair of groups.

namespace auspex::packets {

/// Mean wait of a queue with random arrivals and equal service times, load rho < 1:
///   rho / (1 - rho) * service / 2
/// Source: Pollaczek-Khinchine; Kleinrock, Queueing Systems I, 1975, section 5.6.
[[nodiscard]] double md1_wait_s(double load, double service_s);

/// Ranks of one group that all send to another one, over direct links of C bytes/s together and detours without bound.
struct FullPair {
    double direct_bytes_per_s = 40e9;  ///< C
    int ranks = 96;                    ///< n
    double packet_bytes = 4096;        ///< s
    double bias_s = 0;                 ///< how much longer a packet waits for the direct way before it detours
    double news_s = 0;                 ///< how old what a switch knows is when its packet joins the queue
    double inflow_bytes_per_s = 1e30;  ///< that local links can bring to the switches with the direct ones
};

/// A rank alone: pace, window w, chunk c in which it is given back, and the time from sending a packet until its sender
/// knows that it arrived, on empty links. Chunk 0: packet by packet in any order.
struct RankAlone {
    double bytes_per_s = 6.2e9, window_bytes = 240 * 1024, chunk_bytes = 240 * 1024, round_trip_s = 0;
};

/// The fluid form: a rank at rate b waits d for each window w: 1 / (1 / b + d / w). It has no n, C or s.
[[nodiscard]] double fluid_rate(double bytes_per_s, double window_bytes, double delay_s);

/// D, the wait of the direct queue at an offered load T > C. What is on its way to the queue when that passes the bias
/// joins it all the same, so that it swings between the bias and (T / C - 1) news above; the mean of this sawtooth:
///   bias + (min(T, inflow) / C - 1) news / 2
[[nodiscard]] double standing_wait_s(const FullPair& pair, double offered_bytes_per_s);

/// How much later than its own last packet a message is complete. Of the packets of a rank that sends at rate r the
/// direct queue takes one in T / C at random, so the last that it takes is g before the last of all, exponential of
/// mean g = s / r (T / C - 1); the message waits max(0, D - that), on average over messages that take m seconds to send
///   D - g + exp(-M / g) (M + g - D), M = min(D, m)
/// At g << D this is D.
[[nodiscard]] double message_delay_s(const FullPair& pair, double offered_bytes_per_s, double rank_bytes_per_s,
                                     double message_s);

/// Rate of one of the pair's ranks:
///   chunks:    min(b, w / (c / b + round trip + message_delay)), the last packet's own time counted once
///   any order: min(b, (w - C D / n) / round trip), as C D bytes of all windows stand in the direct queue (Little)
/// and at least C / n, which the direct links carry without a detour: there the queue stands at less than D.
[[nodiscard]] double windowed_rate(const FullPair& pair, const RankAlone& rank);

}  // namespace auspex::packets
