#pragma once
/// @file Player: communication from the arrival of its group to its end, and which loss its time is.
#include "sim/engine/event_loop.hpp"

namespace auspex::engine {

template <class Sharing>
void Player<Sharing>::arrive(std::uint32_t a, std::size_t stream, const Task& task, Picoseconds at) {
    ActorState& actor = actors_[a];
    if (task.message >= 0) {
        Message& message = message_of(actor, actor.streams[stream].block_use, task);
        message.sent = at;
        message.delay = actor.delay;
    }
    TransferInFlight what;
    what.actor = a;
    what.stream = task.stream;
    what.transfer = task.transfer;
    what.started = at;
    what.cause = actor.delay;
    if (task.actor_groups == kNone) {
        what.member = costed_.actors_per_stage == 1 ? 0 : actor.index_in_stage;
        begin(what, task);
        return;
    }
    what.actor_groups = task.actor_groups;
    what.member = costed_.actor_groups[task.actor_groups].group_of[actor.index_in_stage];
    const std::uint32_t number = group_sync_index(actor, task.actor_groups);
    GroupSync& sync = group_syncs_[number];
    const ActorGroups& groups = costed_.actor_groups[task.actor_groups];
    if (join_group(sync, a, groups.begin[what.member + 1] - groups.begin[what.member], at)) {
        what.actor = actor.stage * costed_.actors_per_stage + groups.actors[groups.begin[what.member]];
        what.started = sync.last_arrival.at;
        what.cause = sync.last_arrival.delay;
        attribute_wait(what, sync, number);
        begin(what, task);
    }
}

/// True if the actor is the last of `size` to arrive.
template <class Sharing>
bool Player<Sharing>::join_group(GroupSync& sync, std::uint32_t a, std::size_t size, Picoseconds at) const {
    const DelayedTime arrival{at, actors_[a].delay};
    if (sync.arrived == 0 || at > sync.last_arrival.at) {
        sync.last_actor = a;
    }
    sync.last_arrival = sync.arrived == 0 ? arrival : later_of(sync.last_arrival, arrival);
    if (++sync.arrived < size) {
        return false;
    }
    sync.arrived = 0;
    return true;
}

/// The others have waited for what slow compute has delayed the last: its own, or, if it comes late out of another
/// group than the others, that of the one who holds this group up.
template <class Sharing>
void Player<Sharing>::attribute_wait(const TransferInFlight& what, GroupSync& sync, std::uint32_t number) {
    const auto stream = static_cast<std::size_t>(what.stream);
    double waited = 0;
    std::uint32_t first = sync.last_actor;
    for_each_member(what, [&](std::uint32_t a) {
        const Picoseconds came = actors_[a].streams[stream].started;
        const Picoseconds slower = std::max<Picoseconds>(0, what.cause.tile_noise - actors_[a].delay.tile_noise);
        waited += static_cast<double>(std::min(what.started - came, slower));
        first = came < actors_[first].streams[stream].started ? a : first;
    });
    const std::uint32_t last_sync = actors_[sync.last_actor].last_group_sync;
    const bool inherited = last_sync != kNone && last_sync != actors_[first].last_group_sync;
    if (!inherited || program_.roles.size() == 1) {
        const std::uint32_t straggler = inherited ? group_syncs_[last_sync].straggler : kNone;
        const std::uint32_t cause = straggler != kNone ? straggler : sync.last_actor;
        waited_for_[cause] += waited;
        if (sync.straggler == kNone || waited_for_[cause] > waited_for_[sync.straggler]) {
            sync.straggler = cause;
        }
    }
    for_each_member(what, [&](std::uint32_t a) { actors_[a].last_group_sync = number; });
}

/// All are there at what.started.
template <class Sharing>
void Player<Sharing>::begin(TransferInFlight what, const Task& task) {
    const CostedTransfer::Member& member = member_of(what);
    const auto stream = static_cast<std::size_t>(what.stream);
    for_each_member(what, [&](std::uint32_t a) {
        StreamState& state = actors_[a].streams[stream];
        AUSPEX_CHECK(state.in_flight != kNone && task_of(actors_[a], state).transfer == what.transfer,
                     "a group meets for one communication at a time");
        state.started = what.started;
        change_collectives(a, task, 1);
    });
    what.start_delay = what.jitter = task.jitter;
    if (noise_model_ != nullptr && member.jitter > 0) {
        what.jitter_factor = noise_model_->jitter_factor(what.actor, member.jitter);
        what.jitter += to_picoseconds(to_seconds(member.solo_time) * (what.jitter_factor - 1));
    }
    if (!member.shares_links && costed_.serial) {
        ++tasks_ahead_;
        end(what, what.started + what.start_delay + with_jitter(member.solo_time, what.jitter_factor));
        return;
    }
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(shared_transfers_.size()));
        shared_transfers_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    SharedTransfer& active = shared_transfers_[index];
    active.communication = what;
    active.phase = member.phase_begin;
    active.flowing = false;
    if (member.shares_links) {
        begin_phase(index, what.started + what.start_delay);
    } else {
        active.phase = member.phase_end;
        push(what.started + what.start_delay + with_jitter(member.solo_time, what.jitter_factor),
             Event::Type::kTransferStep, index, ++active.generation);
    }
}

/// Enters the latency part of the transfer's present phase.
template <class Sharing>
void Player<Sharing>::begin_phase(std::uint32_t index, Picoseconds at) {
    SharedTransfer& active = shared_transfers_[index];
    const network::TransferPhase& phase = costed_.transfers[active.communication.transfer].phases[active.phase];
    push(at + to_picoseconds(phase.latency_s * active.communication.jitter_factor), Event::Type::kTransferStep, index,
         ++active.generation);
}

/// A latency is over, or all bytes of a phase have flowed.
template <class Sharing>
void Player<Sharing>::step(const Event& event) {
    const std::uint32_t index = event.subject;
    SharedTransfer& active = shared_transfers_[index];
    const CostedTransfer& transfer = costed_.transfers[active.communication.transfer];
    const std::uint32_t end_phase = transfer.members[active.communication.member].phase_end;
    if (active.flowing) {
        sharing_.stop(active.flow);
        flows_changed_ = true;
        active.flowing = false;
        ++active.phase;
    } else if (active.phase < end_phase) {
        const network::TransferPhase& phase = transfer.phases[active.phase];
        if (phase.bytes > 0) {
            active.flowing = true;
            active.bytes_left = phase.bytes * active.communication.jitter_factor;
            active.rate = 0;
            active.since = now_;
            active.flow = sharing_.start(phase.pattern);
            transfer_of_flow_.resize(std::max<std::size_t>(transfer_of_flow_.size(), active.flow + 1));
            transfer_of_flow_[active.flow] = index;
            flows_changed_ = true;
            return;
        }
        ++active.phase;
    }
    if (active.phase < end_phase) {
        begin_phase(index, now_);
        return;
    }
    ++active.generation;
    free_.push_back(index);
    end(TransferInFlight(active.communication), now_);
}

/// Called when all events of a time are done: what has flowed is settled for the transfers whose rates have changed,
/// and their new ends are scheduled.
template <class Sharing>
void Player<Sharing>::update_rates() {
    if (!flows_changed_) {
        return;
    }
    flows_changed_ = false;
    for (const std::uint32_t flow : sharing_.update_rates()) {
        SharedTransfer& active = shared_transfers_[transfer_of_flow_[flow]];
        const double rate = sharing_.rate(flow);
        if (rate == active.rate) {
            continue;
        }
        active.bytes_left = std::max(0.0, active.bytes_left - active.rate * to_seconds(now_ - active.since));
        active.since = now_;
        active.rate = rate;
        push(now_ + to_picoseconds_up(active.bytes_left / active.rate), Event::Type::kTransferStep,
             transfer_of_flow_[flow], ++active.generation);
    }
}

template <class Sharing>
void Player<Sharing>::end(const TransferInFlight& what, Picoseconds at) {
    const auto stream = static_cast<std::size_t>(what.stream);
    const CostedTransfer::Member& member = member_of(what);
    for_each_member(what, [&](std::uint32_t a) {
        ActorState& actor = actors_[a];
        const StreamState& state = actor.streams[stream];
        const Task& task = task_of(actor, state);
        if (member.shares_links) {
            const schedule::Block& block = program_.blocks[actor.role->order[state.block_use].block];
            const schedule::Operation& op = program_.operations[block.op_begin + task.op_begin];
            shared_link_excess_[operation_name_index(op.kind, op.phase)] +=
                static_cast<double>(at - what.started - what.start_delay - member.solo_time);
        }
        if (member.slow_link_time > 0) {
            const Picoseconds added = added_by_slow_links(what, at);
            attribute_to_slow_link(member.slow_link, added);
            if (task.message >= 0) {
                message_of(actor, state.block_use, task).slow_link_time = added;
                message_of(actor, state.block_use, task).slow_link = member.slow_link;
            }
        }
        end_transfer_task(a, stream, what, at);
    });
}

template <class Sharing>
void Player<Sharing>::arrive_world(std::uint32_t a, const Task& task, Picoseconds at) {
    ActorState& actor = actors_[a];
    const std::uint32_t number = actor.world_operations++;
    if (number == world_operations_.size()) {
        world_operations_.emplace_back();
    }
    WorldOperation& world = world_operations_[number];
    const CostedTransfer::Member& member = costed_.transfers[task.transfer].members.front();
    world.communication.stream = task.stream;
    world.communication.actor_groups = kEveryone;
    world.communication.start_delay = std::max(world.communication.start_delay, task.jitter);
    world.solo_time = std::max(world.solo_time, member.solo_time);
    if (!join_group(world.group_sync, a, actors_.size(), at)) {
        return;
    }
    world.communication.started = world.group_sync.last_arrival.at;
    world.communication.cause = world.group_sync.last_arrival.delay;
    attribute_wait(world.communication, world.group_sync, kNone);
    world.communication.jitter_factor = noise_model_ != nullptr ? noise_model_->jitter_factor(0, member.jitter) : 1;
    const Picoseconds duration = with_jitter(world.solo_time, world.communication.jitter_factor);
    world.communication.jitter = world.communication.start_delay + duration - world.solo_time;
    push(world.communication.started + world.communication.start_delay + duration, Event::Type::kWorldEnd, number);
}

template <class Sharing>
void Player<Sharing>::end_world(const WorldOperation& world) {
    const auto stream = static_cast<std::size_t>(world.communication.stream);
    for_each_member(world.communication, [&](std::uint32_t a) {
        actors_[a].streams[stream].started = world.communication.started;
        end_transfer_task(a, stream, world.communication, now_);
    });
}

template <class Sharing>
void Player<Sharing>::end_transfer_task(std::uint32_t a, std::size_t stream, const TransferInFlight& what,
                                        Picoseconds at) {
    ActorState& actor = actors_[a];
    account_transfer(actor, task_of(actor, actor.streams[stream]), what, at);
    end_task(a, stream, at);
    resume(a, stream, at);
}

/// True if what compute does next in a pass is to receive a message.
template <class Sharing>
bool Player<Sharing>::is_at_receive(const ActorState& actor) const {
    const StreamState& compute = actor.streams[0];
    return compute.index_in_role != kNone && task_of(actor, compute).type == Task::Type::kReceive &&
           block_of(actor, compute.block_use).kind != schedule::BlockKind::kOptimizer;
}

/// True if an asynchronous message is not what compute waits for: it waits for another message, or for a collective
/// that this software does not overlap, and that books the time when it ends.
template <class Sharing>
bool Player<Sharing>::waits_for_other_than_message(const ActorState& actor) const {
    const auto in_flight = [&actor](schedule::Stream stream) {
        return actor.streams[static_cast<std::size_t>(stream)].in_flight != kNone;
    };
    return is_at_receive(actor) || in_flight(schedule::Stream::kCp) || in_flight(schedule::Stream::kToHost) ||
           in_flight(schedule::Stream::kFromHost) || (!program_.overlap_tp && in_flight(schedule::Stream::kTp)) ||
           (!program_.overlap_ep && in_flight(schedule::Stream::kEp)) ||
           (!program_.overlap_dp && in_flight(schedule::Stream::kDp));
}

/// Divides compute's idle time up to the transfer's end: what preceded the transfer is the drain of the pipeline, or
/// waiting; the rest is the transfer's own.
template <class Sharing>
void Player<Sharing>::account_transfer(ActorState& actor, const Task& task, const TransferInFlight& what,
                                       Picoseconds at) {
    if (actor.streams[0].in_flight != kNone || (is_host_stream(task.stream) && is_at_receive(actor)) ||
        (task.stream == schedule::Stream::kPp && program_.overlap_pp && waits_for_other_than_message(actor))) {
        return;
    }
    const bool is_world = task.type == Task::Type::kWorld;
    const DelayedTime idle{actor.accounted, actor.delay};
    attribute_to_slow_link(what.cause.slow_link, account_delay(actor, what.started, {what.started, what.cause}));
    if (is_world) {
        account(actor, schedule::Loss::kBubble, std::min(what.started, forward_backward_));
    }
    account(actor, schedule::Loss::kWaiting, what.started);
    account(actor, schedule::Loss::kJitter, std::min(at, what.started + what.jitter));
    if (!is_world) {
        account(actor, schedule::Loss::kImbalance, std::min(at, actor.accounted + member_of(what).imbalance));
    }
    account(actor, task.loss, at);
    if (noise_model_ == nullptr || at <= idle.at) {  // who has not waited keeps its own delay
        return;
    }
    DelayedTime end{at, what.cause};
    end.delay.noise += what.actor_groups != kNone ? what.jitter : 0;
    if (!is_world) {
        add_slow_link(end.delay, added_by_slow_links(what, at), task.loss, member_of(what).slow_link);
    }
    actor.delay = later_of(idle, end).delay;
}

/// How much longer a transfer that slow links bound has taken than alone at their full capacity: others who crowd on
/// them are their doing, too.
template <class Sharing>
Picoseconds Player<Sharing>::added_by_slow_links(const TransferInFlight& what, Picoseconds at) const {
    const CostedTransfer::Member& member = member_of(what);
    if (member.slow_link_time == 0) {
        return 0;
    }
    return std::max<Picoseconds>(0, at - what.started - what.jitter - (member.solo_time - member.slow_link_time));
}

}  // namespace auspex::engine
