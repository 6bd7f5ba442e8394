/// @file Aurora's numbers.
#include "packets/aurora_pair.hpp"

namespace auspex::packets {
namespace {

double chunk_bytes(double window_bytes, Return by, const Timing& timing) {
    switch (by) {
        case Return::kWhole: return window_bytes;
        case Return::kHalves: return window_bytes / 2;
        case Return::kInOrder: return timing.packet_bytes;
        case Return::kAnyOrder: break;
    }
    return 0;
}

}  // namespace

Experiment aurora_pair(double bias_s) {
    constexpr double kBackground = 0.2;
    Experiment experiment;
    experiment.shape = {.terminals = 16, .switches = 32, .ports = 11, .groups = 166, .links = 2};
    experiment.timing.global_bytes_per_s = (1 - kBackground) * 25e9;
    experiment.routing.bias_s = bias_s;
    experiment.warm_s = 0.2e-3;
    experiment.until_s = 1.2e-3;
    return experiment;
}

Transport paced(double bytes_per_s, double window_bytes, Return by, const Timing& timing) {
    return {
        .bytes_per_s = bytes_per_s, .window_bytes = window_bytes, .chunk_bytes = chunk_bytes(window_bytes, by, timing)};
}

Transport latency_bound(double bytes_per_s, double window_bytes, Return by, const Timing& timing) {
    const double chunk = chunk_bytes(window_bytes, by, timing);
    const double sending_s = (chunk > 0 ? chunk - timing.packet_bytes : 0) / timing.terminal_bytes_per_s;
    return {.bytes_per_s = timing.terminal_bytes_per_s,
            .window_bytes = window_bytes,
            .chunk_bytes = chunk,
            .turnaround_s = window_bytes / bytes_per_s - sending_s - empty_path_s(timing)};
}

double empty_path_s(const Timing& timing) {
    return timing.packet_bytes *
               (2 / timing.terminal_bytes_per_s + 2 / timing.local_bytes_per_s + 1 / timing.global_bytes_per_s) +
           5 * timing.hop_s;
}

FullPair full_pair(const Experiment& experiment) {
    const Timing& timing = experiment.timing;
    return {.direct_bytes_per_s = experiment.shape.links * timing.global_bytes_per_s,
            .ranks = experiment.pattern.ranks,
            .packet_bytes = timing.packet_bytes,
            .bias_s = experiment.routing.bias_s,
            .news_s = timing.packet_bytes / timing.local_bytes_per_s + timing.hop_s + experiment.routing.news_s,
            .inflow_bytes_per_s = (experiment.shape.switches - 1) * timing.local_bytes_per_s};
}

RankAlone rank_alone(const Experiment& experiment) {
    const Transport& transport = experiment.transport;
    return {.bytes_per_s = transport.bytes_per_s,
            .window_bytes = transport.window_bytes,
            .chunk_bytes = transport.chunk_bytes,
            .round_trip_s = empty_path_s(experiment.timing) + transport.turnaround_s};
}

}  // namespace auspex::packets
