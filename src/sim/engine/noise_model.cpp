/// @file Draws of tile speeds, interruptions and jitter.
#include "sim/engine/noise_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "schedule/step_length.hpp"

namespace auspex::engine {
namespace {

constexpr std::size_t index_of(schedule::Loss loss) { return static_cast<std::size_t>(loss); }

/// Losses that kernels' own time counts as.
constexpr schedule::Loss kKernelLosses[] = {schedule::Loss::kUsefulCompute, schedule::Loss::kRecompute,
                                            schedule::Loss::kOptimizer};

/// Independent for every (seed, rank, purpose): Rng scrambles neighbouring seeds.
std::uint64_t seed_of(std::uint64_t seed, int rank, std::uint64_t purpose) {
    Rng mixed(seed);
    return Rng(mixed.next() ^ (static_cast<std::uint64_t>(rank) * 4 + purpose)).next();
}

double exponential(Rng& rng, double mean) { return -mean * std::log(1 - rng.uniform()); }

/// `extra` time: added under `added`, or taken from what there is of `from`. Returns what the duration has changed by.
Picoseconds change(ActorState& actor, Picoseconds extra, schedule::Loss from, schedule::Loss added) {
    if (extra < 0) {
        extra = -std::min(-extra, actor.time_by_loss[index_of(from)]);
        actor.time_by_loss[index_of(from)] += extra;
    } else {
        actor.time_by_loss[index_of(added)] += extra;
    }
    actor.duration += extra;
    if (actor.duration >= kLongestTime) {
        schedule::refuse_long_step("compute of one tile");
    }
    return extra;
}

}  // namespace

NoiseModel::NoiseModel(const models::Tile& tile, const models::Noise& noise, std::uint64_t seed,
                       std::span<const int> ranks, std::span<const double> factors)
    : noise_(noise) {
    ranks_.reserve(ranks.size());
    for (const int rank : ranks) {
        RankState state{Rng(seed_of(seed, rank, 0)), Rng(seed_of(seed, rank, 1))};
        Rng speeds(seed_of(seed, rank, 2));
        state.speed = std::max(tile.speed_worst, 1 + tile.speed_sigma * speeds.normal());
        state.speed = tile.speed_sigma > 0 ? state.speed : 1;
        if (!factors.empty()) {
            state.speed *= factors[static_cast<std::size_t>(rank)];
        }
        AUSPEX_CHECK(state.speed > 0, "a tile computes");
        state.slowness = 1 / state.speed - 1;
        state.busy_until_event_s = next_interval_s(state.compute);
        ranks_.push_back(state);
    }
}

double NoiseModel::next_interval_s(Rng& rng) const {
    return noise_.os_events_per_s > 0 && noise_.os_event_s > 0 ? exponential(rng, 1 / noise_.os_events_per_s)
                                                               : HUGE_VAL;
}

void NoiseModel::draw(const CostedProgram& costed, const Task& task, std::uint32_t index, ActorState& actor) {
    RankState& rank = ranks_[index];
    actor.time_by_loss = task.time_by_loss;
    actor.duration = task.duration;
    double uneven_s = 0;
    if (task.uneven != kNone) {
        uneven_s = costed.uneven_s[task.uneven + actor.index_in_stage / costed.etp % costed.ep];
        Picoseconds left = to_picoseconds(uneven_s);
        for (const schedule::Loss loss : kKernelLosses) {
            const Picoseconds changed = change(actor, left, loss, schedule::Loss::kImbalance);
            actor.delay.imbalance += changed;
            left -= changed;
        }
    }
    Picoseconds noise = 0;
    if (rank.slowness != 0) {
        for (const schedule::Loss loss : kKernelLosses) {
            const double bound_s = task.rate_bound_s[index_of(loss)];
            if (bound_s > 0) {
                noise += change(actor, to_picoseconds(bound_s * rank.slowness), loss, schedule::Loss::kJitter);
            }
        }
        if (uneven_s != 0) {
            noise += change(actor, to_picoseconds(uneven_s * rank.slowness), schedule::Loss::kUsefulCompute,
                            schedule::Loss::kJitter);
        }
    }
    noise += change(actor, interruptions(rank, actor.duration), schedule::Loss::kJitter, schedule::Loss::kJitter);
    actor.delay.noise += noise;
    actor.delay.tile_noise += noise;
}

Picoseconds NoiseModel::interruptions(RankState& rank, Picoseconds busy) const {
    constexpr double kMany = 100;
    const double expected = noise_.os_event_s > 0 ? noise_.os_events_per_s * to_seconds(busy) : 0;
    if (expected > kMany) {  // one by one they would take longer than the rest of the simulation
        rank.busy_until_event_s = next_interval_s(rank.compute);
        return to_picoseconds(noise_.os_event_s *
                              std::max(0.0, expected + std::sqrt(2 * expected) * rank.compute.normal()));
    }
    Picoseconds sum = 0;
    rank.busy_until_event_s -= to_seconds(busy);
    while (rank.busy_until_event_s < 0) {
        sum += to_picoseconds(exponential(rank.compute, noise_.os_event_s));
        rank.busy_until_event_s += next_interval_s(rank.compute);
    }
    return sum;
}

double NoiseModel::jitter_factor(std::uint32_t index, double deviation) {
    if (deviation <= 0) {
        return 1;
    }
    return std::max(0.0, 1 + deviation * std::max(-3.0, ranks_[index].transfers.normal()));
}

}  // namespace auspex::engine
