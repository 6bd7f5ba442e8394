#pragma once
/// @file What the noise of a machine adds to a communication, as an expected value.
#include <cmath>

#include "models/kernel_cost.hpp"
#include "models/machine.hpp"

namespace auspex::network {

/// Seconds that a communication of n `ranks` takes longer: the operating system's interruptions (rate, mean length d)
/// of whoever computed longest, d (1 - exp(-rate n t)) after compute of length t since the last one, and jitter, solo
/// time * relative standard deviation * E[max of n normals].
[[nodiscard]] inline double expected_noise_s(const models::Noise& noise, double ranks, double compute_since_sync_s,
                                             double solo_s, double jitter) {
    const double interruptions_s =
        noise.os_event_s * (1 - std::exp(-noise.os_events_per_s * ranks * compute_since_sync_s));
    return interruptions_s + solo_s * jitter * models::expected_normal_maximum(ranks);
}

/// Relative standard deviation of the time of a transfer of so many rounds.
[[nodiscard]] inline double jitter_of_rounds(const models::Noise& noise, int rounds, bool leaves_node) {
    return leaves_node && rounds > 0 ? noise.network_jitter / std::sqrt(rounds) : 0;
}

}  // namespace auspex::network
