#pragma once
/// @file What makes equal ranks take unequal time: tile speeds, interruptions, jitter of transfers, uneven routing.
#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.hpp"
#include "models/machine.hpp"
#include "sim/engine/player_state.hpp"

namespace auspex::engine {

/// One draw of all ranks of a job. Deterministic for a seed; every rank has generators of its own, so that a change to
/// one rank leaves the draws of the others as they are.
class NoiseModel {
 public:
    /// Speeds: normal(1, speed_sigma), cut at speed_worst, times `factors` (by rank; empty: 1). Interruptions: a
    /// Poisson process of os_events_per_s in a rank's busy time, exponential lengths of mean os_event_s; where more
    /// than 100 of them are expected in one task, their sum is normal with the same mean and variance. `ranks`: the
    /// rank of each actor.
    NoiseModel(const models::Tile& tile, const models::Noise& noise, std::uint64_t seed, std::span<const int> ranks,
               std::span<const double> factors);

    /// Sets duration and parts of the actor's compute task, and adds what noise and uneven routing did to its delay.
    ///   time = overhead + (rate-bound time + routed time more than the mean) / speed + interruptions
    /// A rank of speed 1 with the mean load takes Task::duration to the picosecond. Time saved is taken from the
    /// compute that it belongs to; time added counts as imbalance or jitter. Throws InputError where the clock ends.
    void draw(const CostedProgram& costed, const Task& task, std::uint32_t index, ActorState& actor);

    /// Factor on the time of a transfer with this relative standard deviation: normal, at most three of them less
    /// than 1.
    [[nodiscard]] double jitter_factor(std::uint32_t index, double deviation);

    [[nodiscard]] double speed(std::uint32_t index) const { return ranks_[index].speed; }

 private:
    struct RankState {
        Rng compute, transfers;
        double speed = 1, slowness = 0;  ///< 1 / speed - 1
        double busy_until_event_s = 0;
    };
    [[nodiscard]] double next_interval_s(Rng& rng) const;
    Picoseconds interruptions(RankState& rank, Picoseconds busy) const;

    models::Noise noise_;
    std::vector<RankState> ranks_;
};

}  // namespace auspex::engine
