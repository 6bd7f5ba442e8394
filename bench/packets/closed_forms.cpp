/// @file Fixed points of a full pair of groups.
#include "packets/closed_forms.hpp"

#include <algorithm>
#include <cmath>

namespace auspex::packets {

double md1_wait_s(double load, double service_s) { return load / (1 - load) * service_s / 2; }

double fluid_rate(double bytes_per_s, double window_bytes, double delay_s) {
    return 1 / (1 / bytes_per_s + delay_s / window_bytes);
}

double standing_wait_s(const FullPair& pair, double offered_bytes_per_s) {
    constexpr double kOfSawtooth = 0.5;
    const double inflow = std::min(offered_bytes_per_s, pair.inflow_bytes_per_s);
    return pair.bias_s + kOfSawtooth * std::max(0.0, inflow / pair.direct_bytes_per_s - 1) * pair.news_s;
}

double message_delay_s(const FullPair& pair, double offered_bytes_per_s, double rank_bytes_per_s, double message_s) {
    const double wait_s = standing_wait_s(pair, offered_bytes_per_s);
    const double gap_s = pair.packet_bytes / rank_bytes_per_s * (offered_bytes_per_s / pair.direct_bytes_per_s - 1);
    const double counted_s = std::min(wait_s, message_s);
    return gap_s <= 0 ? wait_s : wait_s - gap_s + std::exp(-counted_s / gap_s) * (counted_s + gap_s - wait_s);
}

double windowed_rate(const FullPair& pair, const RankAlone& rank) {
    const double own_s = pair.packet_bytes / rank.bytes_per_s;
    const auto rate_at = [&](double delay_s, double queued_bytes) {
        const double cycle_s = rank.chunk_bytes > 0
                                   ? rank.chunk_bytes / rank.bytes_per_s - own_s + rank.round_trip_s + delay_s
                                   : rank.round_trip_s;
        return std::min(rank.bytes_per_s, (rank.window_bytes - queued_bytes) / cycle_s);
    };
    const double alone = rate_at(0, 0);
    const double least = pair.direct_bytes_per_s / pair.ranks;
    if (alone <= least) {
        return alone;
    }
    double rate = alone;
    for (int round = 0; round < 200; ++round) {  // damped: the delay itself depends on the rate
        const double offered = std::max(rate * pair.ranks, pair.direct_bytes_per_s);
        const double next = rank.chunk_bytes > 0
                                ? rate_at(message_delay_s(pair, offered, alone, rank.window_bytes / alone), 0)
                                : rate_at(0, standing_wait_s(pair, offered) * least);
        rate = (rate + next) / 2;
    }
    return std::max(rate, least);
}

}  // namespace auspex::packets
