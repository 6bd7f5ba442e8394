/// @file Every picosecond of every actor gets one name.
#include "sim/engine_losses.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace auspex {

void account(ActorState& actor, Loss loss, Picoseconds until) {
    if (until > actor.accounted) {
        actor.losses[static_cast<std::size_t>(loss)] += until - actor.accounted;
        actor.accounted = until;
    }
}

void account_delay(ActorState& actor, Picoseconds until, const Delay& others) {
    if (until <= actor.accounted) {
        return;
    }
    const Picoseconds imbalance = std::max<Picoseconds>(0, others.imbalance - actor.delay.imbalance);
    account(actor, Loss::kImbalance, std::min(until, actor.accounted + imbalance));
    const Picoseconds noise = std::max<Picoseconds>(0, others.noise - actor.delay.noise);
    account(actor, Loss::kJitter, std::min(until, actor.accounted + noise));
    actor.delay = others;
}

void account_compute(ActorState& actor, Picoseconds ended) {
    for (std::size_t loss = 0; loss < kLossCount; ++loss) {
        actor.losses[loss] += actor.parts[loss];
    }
    const Picoseconds taken = ended - actor.streams[0].started - actor.duration;
    actor.losses[static_cast<std::size_t>(actor.interference)] += taken;
    actor.accounted = ended;
}

void close_account(ActorState& actor, Picoseconds step) {
    account(actor, Loss::kWaiting, step);
    const Picoseconds sum = std::accumulate(actor.losses.begin(), actor.losses.end(), Picoseconds{0});
    AUSPEX_CHECK(sum == step, "losses sum to the step");
}

}  // namespace auspex
