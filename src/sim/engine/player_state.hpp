#pragma once
/// @file What the engine keeps while it plays: events, streams, actors, transfers under way.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/time.hpp"
#include "sim/engine/costed_program.hpp"

namespace auspex::engine {

inline constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();

/// The one order of events: time, then the sequence in which they were made.
struct Event {
    Picoseconds time;
    std::uint64_t sequence;
    enum class Type : std::uint8_t { kComputeEnd, kTransferStep, kWorldEnd, kWake } type;
    std::uint32_t subject = 0;     ///< actor, index of the active transfer, or number of the world operation
    std::uint32_t generation = 0;  ///< of what is expected: an event of an older one is void
    friend bool operator<(const Event& a, const Event& b) {  // std heaps keep the largest on top
        return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
    }
};

/// How much later something happens than without noise; that again than with even routing, too; and that than with
/// all links at full capacity as well.
struct Delay {
    Picoseconds noise = 0, imbalance = 0, slow_links = 0;
    Picoseconds tile_noise = 0;  ///< how much later than without the noise of tiles alone
    schedule::Loss slow_links_loss = schedule::Loss::kWaiting;  ///< what waiting for slow links counts as
    std::uint32_t slow_link = kNone;                            ///< the last of them
};

inline void add_slow_link(Delay& delay, Picoseconds added, schedule::Loss loss, std::uint32_t link) {
    if (added > 0) {
        delay.slow_links += added;
        delay.slow_links_loss = loss;
        delay.slow_link = link;
    }
}

/// When something happens.
struct DelayedTime {
    Picoseconds at = 0;
    Delay delay;
};

/// When what needs both can happen. Its delays are differences between the later of both as played, and as it would be
/// without noise and so on: what one has lost while it would have waited for the other anyway delays nobody.
[[nodiscard]] inline DelayedTime later_of(const DelayedTime& a, const DelayedTime& b) {
    const Picoseconds steady_a = a.at - a.delay.noise, steady_b = b.at - b.delay.noise;
    const Picoseconds even_a = steady_a - a.delay.imbalance, even_b = steady_b - b.delay.imbalance;
    const Picoseconds quick = std::max(even_a - a.delay.slow_links, even_b - b.delay.slow_links);
    DelayedTime both = even_a < even_b ? b : a;  // with its slow link
    both.at = std::max(a.at, b.at);
    both.delay.noise = both.at - std::max(steady_a, steady_b);
    both.delay.imbalance = std::max(steady_a, steady_b) - std::max(even_a, even_b);
    both.delay.slow_links = std::max(even_a, even_b) - quick;
    both.delay.tile_noise = both.at - std::max(a.at - a.delay.tile_noise, b.at - b.delay.tile_noise);
    return both;
}

/// When a pipeline message left, and when it was there.
struct Message {
    Picoseconds sent = kNever, arrived = kNever;
    Delay delay;                     ///< of the sender when it left
    Picoseconds slow_link_time = 0;  ///< what slow links have added on its way
    std::uint32_t slow_link = kNone;
};

/// Where a stream of an actor stands: the next task to start, and the one in flight.
struct StreamState {
    std::uint32_t block_use = 0, task = 0;  ///< next task: block use, index within the block
    std::uint32_t index_in_role = kNone;    ///< its number among the role's tasks; kNone: no more
    std::uint32_t in_flight = kNone;
    Picoseconds started = 0;  ///< of the task in flight
    [[nodiscard]] std::uint32_t first_unfinished() const { return in_flight != kNone ? in_flight : index_in_role; }
};

/// Where an actor stands in its program and in its accounts. An actor is a role (folded) or a rank (unfolded).
struct ActorState {
    const schedule::Role* role = nullptr;
    std::uint32_t stage = 0, index_in_stage = 0;  ///< index among the actors of the stage
    std::array<StreamState, schedule::kStreamCount> streams;
    Picoseconds clock = 0;      ///< its own time: ahead of the events' where none can affect it
    Picoseconds accounted = 0;  ///< its time is divided into losses up to here
    schedule::LossTimes losses{};
    Delay delay;
    bool waits_for_events = false;             ///< it has walked to `clock` and goes on when the events are there
    std::uint32_t overtaking_message = kNone;  ///< the last message that has become ready behind others
    Picoseconds overtaking_at = 0;             ///< when it did
    std::uint32_t world_operations = 0;        ///< world operations reached
    std::uint32_t last_group_sync = kNone;     ///< the last group sync that it took part in
    // the compute task in flight, which collectives and host copies beside it slow down
    schedule::LossTimes time_by_loss{};
    Picoseconds duration = 0;
    double work_left = 0;  ///< in ticks; less than 0: of the next task, if it follows at once
    Picoseconds work_since = 0;
    Picoseconds slowed = 0;  ///< what it takes longer, as far as it is booked
    double work_ahead = 0;   ///< done of the next task when the last one ended, in the rest of a tick
    Picoseconds work_ended = 0;
    std::uint32_t compute_generation = 0;
    int collectives = 0, host_copies = 0;
    schedule::Loss interference = schedule::Loss::kExposedDp;
};

inline constexpr std::uint32_t kEveryone = kNone - 1;

/// A communication under way: who takes part, and what is added to its solo time.
struct TransferInFlight {
    std::uint32_t actor = 0;  ///< the first of the group, or the only one
    std::uint32_t actor_groups =
        kNone;  ///< into CostedProgram::actor_groups; kNone: the actor alone; kEveryone: all actors
    schedule::Stream stream = schedule::Stream::kCompute;  ///< on which all have it in flight
    std::uint32_t transfer = 0, member = 0;
    Picoseconds started = 0;
    Picoseconds start_delay = 0;  ///< nothing happens for so long first
    double jitter_factor = 1;     ///< latencies and bytes are multiplied by it
    Picoseconds jitter = 0;       ///< what both add to its solo time
    Delay cause;                  ///< of `started`
};

/// Whole ticks of work that is left after sums and products, up: what is within a thousandth of a tick is rounding.
[[nodiscard]] inline Picoseconds ticks_until_done(double ticks) { return whole_ticks_up(ticks - 1e-3); }

/// Of a transfer alone.
[[nodiscard]] inline Picoseconds with_jitter(Picoseconds time, double factor) {
    return factor == 1 ? time : to_picoseconds(to_seconds(time) * factor);
}

/// A transfer whose links others may use.
struct SharedTransfer {
    TransferInFlight communication;
    std::uint32_t phase = 0;
    bool flowing = false;
    double bytes_left = 0, rate = 0;
    Picoseconds since = 0;
    std::uint32_t generation = 0, flow = 0;
};

/// The members of one group arrive for their next communication.
struct GroupSync {
    std::uint32_t arrived = 0;
    std::uint32_t last_actor = 0;  ///< actor who came latest
    DelayedTime last_arrival;
    std::uint32_t straggler =
        kNone;  ///< of its members the one for whom the others have waited longest, summed over all syncs
};

/// An operation of all actors: it begins when the last has come.
struct WorldOperation {
    GroupSync group_sync;
    TransferInFlight communication;
    Picoseconds solo_time = 0;
};

}  // namespace auspex::engine
