/// @file Every picosecond of every actor gets one name.
#include "sim/engine/player_losses.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace auspex::engine {

void account(ActorState& actor, schedule::Loss loss, Picoseconds until) {
    if (until > actor.accounted) {
        actor.losses[static_cast<std::size_t>(loss)] += until - actor.accounted;
        actor.accounted = until;
    }
}

Picoseconds account_delay(ActorState& actor, Picoseconds until, const DelayedTime& others) {
    const Delay& own = actor.delay;
    const Delay joint = later_of({actor.accounted, own}, others).delay;
    const auto account_more = [&](schedule::Loss loss, Picoseconds more) {
        account(actor, loss, std::min(until, actor.accounted + more));
    };
    const Picoseconds began = actor.accounted;
    account_more(joint.slow_links_loss, joint.slow_links - own.slow_links);
    const Picoseconds on_slow_links = actor.accounted - began;
    account_more(schedule::Loss::kImbalance, joint.imbalance - own.imbalance);
    account_more(schedule::Loss::kJitter, joint.noise - own.noise);
    return on_slow_links;
}

Picoseconds account_receive(ActorState& actor, const Message& message) {
    const DelayedTime idle{actor.accounted, actor.delay};
    const Picoseconds sent = std::min(actor.clock, message.sent);
    const Picoseconds on_slow_links = account_delay(actor, sent, {message.sent, message.delay});
    account(actor, schedule::Loss::kBubble, sent);
    account(actor, schedule::Loss::kExposedPp, actor.clock);
    DelayedTime arrival{message.arrived, message.delay};
    add_slow_link(arrival.delay, message.slow_link_time, schedule::Loss::kExposedPp, message.slow_link);
    actor.delay = later_of(idle, arrival).delay;
    return on_slow_links;
}

void account_slowed(ActorState& actor, Picoseconds slowed) {
    actor.losses[static_cast<std::size_t>(actor.interference)] += slowed - actor.slowed;
    actor.slowed = slowed;
}

void account_compute(ActorState& actor, Picoseconds ended) {
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        actor.losses[loss] += actor.time_by_loss[loss];
    }
    account_slowed(actor, ended - actor.streams[0].started - actor.duration);
    actor.accounted = ended;
}

void close_account(ActorState& actor, Picoseconds step) {
    account(actor, schedule::Loss::kWaiting, step);
    const Picoseconds sum = std::accumulate(actor.losses.begin(), actor.losses.end(), Picoseconds{0});
    AUSPEX_CHECK(sum == step, "losses sum to the step");
}

}  // namespace auspex::engine
