#pragma once
/// @file Player: streams, compute and the walk of one actor.
#include "sim/engine/event_loop.hpp"

namespace auspex::engine {

template <class Sharing>
void Player<Sharing>::prepare() {
    const std::size_t stages = program_.roles.size();
    for (const schedule::Role& role : program_.roles) {
        std::vector<std::uint32_t>& offsets = use_offset_.emplace_back();
        std::uint32_t offset = 0;
        for (const schedule::BlockUse& use : role.order) {
            offsets.push_back(offset);
            offset += costed_.blocks[use.block].task_end - costed_.blocks[use.block].task_begin;
        }
    }
    actors_.resize(stages * costed_.actors_per_stage);
    messages_.resize(2 * actors_.size() * static_cast<std::size_t>(program_.chunks * program_.micro_batches));
    waited_for_.assign(actors_.size(), 0);
    for (std::uint32_t a = 0; a < actors_.size(); ++a) {
        ActorState& actor = actors_[a];
        actor.stage = a / costed_.actors_per_stage;
        actor.index_in_stage = a % costed_.actors_per_stage;
        actor.role = &program_.roles[actor.stage];
        for (std::size_t s = 0; s < schedule::kStreamCount; ++s) {
            if (!actor.role->order.empty()) {
                actor.streams[s].task = block_of(actor, 0).first[s];
            }
            find_task(actor, s, actor.streams[s]);
        }
    }
    for (const ActorGroups& groups : costed_.actor_groups) {
        for (std::size_t stage = 0; stage < stages; ++stage) {
            first_group_sync_.push_back(static_cast<std::uint32_t>(group_syncs_.size()));
            group_syncs_.resize(group_syncs_.size() + groups.groups());
        }
    }
}

/// From `use` on the first block that has a task of the stream; `task` says which in the present one.
template <class Sharing>
void Player<Sharing>::find_task(const ActorState& actor, std::size_t stream, StreamState& state) const {
    const auto& order = actor.role->order;
    while (state.block_use < order.size() && state.task == kNone) {
        if (++state.block_use < order.size()) {
            state.task = block_of(actor, state.block_use).first[stream];
        }
    }
    state.index_in_role =
        state.block_use < order.size() ? use_offset_[actor.stage][state.block_use] + state.task : kNone;
}

template <class Sharing>
bool Player<Sharing>::is_ready(const ActorState& actor, const StreamState& state) const {
    const std::uint32_t begin = block_of(actor, state.block_use).task_begin;
    const Task& task = costed_.tasks[begin + state.task];
    for (std::uint32_t d = task.dep_begin; d < task.dep_end; ++d) {
        const std::uint32_t on = costed_.dependencies[d];
        const auto stream = static_cast<std::size_t>(costed_.tasks[begin + on].stream);
        if (actor.streams[stream].first_unfinished() <= state.index_in_role - state.task + on) {
            return false;
        }
    }
    for (std::size_t s = 0; task.joins >> s != 0; ++s) {
        if (((task.joins >> s) & 1U) != 0 && actor.streams[s].first_unfinished() < state.index_in_role) {
            return false;
        }
    }
    if (task.type == Task::Type::kReceive) {
        return messages_[message_index(actor, state.block_use, task)].arrived != kNever;
    }
    return true;
}

template <class Sharing>
void Player<Sharing>::advance_all() {
    while (!runnable_.empty()) {
        const std::uint32_t a = runnable_.back();
        runnable_.pop_back();
        advance(a);
    }
}

/// Starts all that can start, as far as the actor's own clock may run.
template <class Sharing>
void Player<Sharing>::advance(std::uint32_t a) {
    ActorState& actor = actors_[a];
    if (actor.waits_for_events) {
        return;
    }
    actor.clock = std::max(actor.clock, now_);
    while (!must_wait_for_events(a) && start_next(a)) {
    }
}

/// Compute last: what runs beside it starts when it can, not after more compute.
template <class Sharing>
bool Player<Sharing>::start_next(std::uint32_t a) {
    for (std::size_t s = schedule::kStreamCount; s-- > 0;) {
        if (can_start(actors_[a], s)) {
            if (actors_[a].clock > now_ && needs_events(actors_[a], s)) {
                wait_for_events(a);
                return false;
            }
            start(a, s, actors_[a].clock);
            return true;
        }
    }
    return false;
}

/// Compute runs by itself if nothing is beside it and nothing can come before it ends: what waits for compute cannot,
/// what waits for a message in flight can.
template <class Sharing>
bool Player<Sharing>::runs_alone(const ActorState& actor) const {
    for (std::size_t s = 1; s < schedule::kStreamCount; ++s) {
        const StreamState& state = actor.streams[s];
        if (s == kPp || (state.index_in_role == kNone && state.in_flight == kNone)) {
            continue;
        }
        if (state.in_flight != kNone || (actor.streams[kPp].in_flight != kNone && waits_for_message(actor, state))) {
            return false;
        }
    }
    return true;
}

template <class Sharing>
bool Player<Sharing>::waits_for_message(const ActorState& actor, const StreamState& state) const {
    const std::uint32_t begin = block_of(actor, state.block_use).task_begin;
    const Task& task = costed_.tasks[begin + state.task];
    const auto on_message = [&](std::uint32_t on) { return costed_.tasks[begin + on].stream == schedule::Stream::kPp; };
    const auto dependencies = costed_.dependencies.begin();
    return ((task.joins >> kPp) & 1U) != 0 ||
           std::any_of(dependencies + task.dep_begin, dependencies + task.dep_end, on_message);
}

/// Where collectives run beside compute they change its pace: both then start in order of time.
template <class Sharing>
bool Player<Sharing>::needs_events(const ActorState& actor, std::size_t stream) const {
    if (costed_.serial || stream == kPp) {
        return false;
    }
    const Task& task = task_of(actor, actor.streams[stream]);
    return task.type == Task::Type::kTransfer || (task.type == Task::Type::kCompute && !runs_alone(actor));
}

template <class Sharing>
void Player<Sharing>::wait_for_events(std::uint32_t a) {
    actors_[a].waits_for_events = true;
    push(actors_[a].clock, Event::Type::kWake, a);
}

/// A message has become ready behind others, one of them still on its way: it leaves as soon as those have arrived,
/// which the events will say.
template <class Sharing>
bool Player<Sharing>::must_wait_for_events(std::uint32_t a) {
    ActorState& actor = actors_[a];
    if (actor.streams[kPp].in_flight == kNone) {
        return false;
    }
    StreamState next = actor.streams[kPp];
    do {
        next.task = task_of(actor, next).next;
        find_task(actor, kPp, next);
    } while (next.index_in_role != kNone && actor.overtaking_message != kNone &&
             next.index_in_role <= actor.overtaking_message);
    if (next.index_in_role == kNone || !is_ready(actor, next)) {
        return false;
    }
    actor.overtaking_message = next.index_in_role;
    actor.overtaking_at = actor.clock;
    if (actor.clock <= now_) {
        return false;
    }
    wait_for_events(a);
    return true;
}

template <class Sharing>
void Player<Sharing>::start(std::uint32_t a, std::size_t stream, Picoseconds at) {
    ActorState& actor = actors_[a];
    StreamState& state = actor.streams[stream];
    const Task& task = task_of(actor, state);
    state.in_flight = state.index_in_role;
    state.started = at;
    switch (task.type) {
        case Task::Type::kReceive: {
            const Message& message = message_of(actor, state.block_use, task);
            actor.clock = std::max(at, message.arrived);
            attribute_to_slow_link(message.delay.slow_link, account_receive(actor, message));
            end_task(a, stream, actor.clock);
            return;
        }
        case Task::Type::kCompute: start_compute(a, task, at); return;
        case Task::Type::kTransfer: arrive(a, stream, task, at); return;
        case Task::Type::kWorld: arrive_world(a, task, at); return;
    }
}

template <class Sharing>
void Player<Sharing>::start_compute(std::uint32_t a, const Task& task, Picoseconds at) {
    ActorState& actor = actors_[a];
    account(actor, schedule::Loss::kWaiting, at);
    if (noise_model_ != nullptr) {
        noise_model_->draw(costed_, task, a, actor);
    } else {
        actor.time_by_loss = task.time_by_loss;
        actor.duration = task.duration;
    }
    actor.slowed = 0;
    actor.work_ahead = actor.work_ended == at ? actor.work_ahead : 0;
    if (costed_.serial || (costed_.runs_ahead && runs_alone(actor))) {
        ++tasks_ahead_;
        actor.clock = actor.work_ended = at + actor.duration;
        end_task(a, 0, actor.clock);
        return;
    }
    actor.work_left = static_cast<double>(actor.duration) - actor.work_ahead;
    actor.work_since = at;
    schedule_compute_end(a);
}

template <class Sharing>
void Player<Sharing>::schedule_compute_end(std::uint32_t a) {
    ActorState& actor = actors_[a];
    const Picoseconds left = std::max<Picoseconds>(0, ticks_until_done(actor.work_left / compute_rate(actor)));
    push(now_ + left, Event::Type::kComputeEnd, a, ++actor.compute_generation);
}

template <class Sharing>
void Player<Sharing>::work_until_now(ActorState& actor) const {
    actor.work_left -= static_cast<double>(now_ - actor.work_since) * compute_rate(actor);
    actor.work_since = now_;
}

/// Compute that follows at once has had the rest of the tick: so it does not matter into how many tasks it is divided.
template <class Sharing>
void Player<Sharing>::end_compute(std::uint32_t a) {
    ActorState& actor = actors_[a];
    work_until_now(actor);
    actor.work_ahead = -actor.work_left;
    actor.work_ended = now_;
    end_task(a, 0, now_);
    runnable_.push_back(a);
}

/// A collective of the same tile, or a copy to its host or back, starts (+1) or ends (-1): compute in flight changes
/// its pace. What it has lost so far counts as what the collective that came last before does.
template <class Sharing>
void Player<Sharing>::change_collectives(std::uint32_t a, const Task& task, int by) {
    ActorState& actor = actors_[a];
    const bool is_copy = is_host_stream(task.stream);
    const double share = is_copy ? costed_.host_copy_compute_share : costed_.collective_compute_share;
    if (costed_.serial || share <= 0 || task.stream == schedule::Stream::kPp) {
        return;
    }
    const bool computes = actor.streams[0].in_flight != kNone;
    if (computes) {
        work_until_now(actor);
    }
    const double before = compute_rate(actor);
    (is_copy ? actor.host_copies : actor.collectives) += by;
    if (by > 0 && actor.interference != task.loss) {
        if (computes) {
            const auto done = static_cast<double>(actor.duration) - actor.work_left;
            account_slowed(actor, ticks_until_done(static_cast<double>(now_ - actor.streams[0].started) - done));
        }
        actor.interference = task.loss;
    }
    if (computes && before != compute_rate(actor)) {
        schedule_compute_end(a);
    }
}

/// The task in flight on the stream has ended.
template <class Sharing>
void Player<Sharing>::end_task(std::uint32_t a, std::size_t stream, Picoseconds at) {
    ActorState& actor = actors_[a];
    StreamState& state = actor.streams[stream];
    const Task& task = task_of(actor, state);
    if (at >= kLongestTime) {
        schedule::refuse_long_step("its operations");
    }
    record(actor, state, task, at);
    if (task.type == Task::Type::kCompute) {
        account_compute(actor, at);
    }
    if (is_backward(block_of(actor, state.block_use).kind)) {
        forward_backward_ = std::max(forward_backward_, at);
    }
    if (task.type == Task::Type::kTransfer) {
        change_collectives(a, task, -1);
        if (task.message >= 0) {
            message_of(actor, state.block_use, task).arrived = at;
            const auto to = static_cast<std::size_t>(task.message + (task.backward_message ? 0 : 1));
            runnable_.push_back(program_.role_of_stage[to] * costed_.actors_per_stage + actor.index_in_stage);
        }
    }
    state.in_flight = kNone;
    state.task = task.next;
    find_task(actor, stream, state);
}

/// The actor goes on after what ended on the stream. A message that waited for the stream leaves now, even if the actor
/// has walked on.
template <class Sharing>
void Player<Sharing>::resume(std::uint32_t a, std::size_t stream, Picoseconds at) {
    ActorState& actor = actors_[a];
    const bool was_ready =
        actor.streams[kPp].index_in_role < actor.overtaking_message;  // earlier than the last that is
    if (stream == kPp && (was_ready || at >= actor.overtaking_at) && can_start(actor, stream)) {
        start(a, stream, at);
    }
    if (actor.waits_for_events && stream == kPp) {
        return;
    }
    actor.clock = std::max(actor.clock, at);
    if (!actor.waits_for_events) {
        runnable_.push_back(a);
    }
}

template <class Sharing>
void Player<Sharing>::handle(const Event& event) {
    switch (event.type) {
        case Event::Type::kTransferStep: step(event); return;
        case Event::Type::kWorldEnd: end_world(world_operations_[event.subject]); return;
        case Event::Type::kWake:
            actors_[event.subject].waits_for_events = false;
            resume(event.subject, kPp, now_);
            return;
        case Event::Type::kComputeEnd: end_compute(event.subject); return;
    }
}

template <class Sharing>
void Player<Sharing>::record(const ActorState& actor, const StreamState& state, const Task& task, Picoseconds at) {
    if (recording_ == nullptr) {
        return;
    }
    const std::uint32_t first = recording_->first_track[actor.stage * costed_.actors_per_stage + actor.index_in_stage];
    if (first == kNone || (state.started == at && task.type != Task::Type::kReceive)) {
        return;
    }
    AUSPEX_CHECK(task.op_end == task.op_begin + 1, "a timeline is recorded from single operations");
    const schedule::BlockUse& use = actor.role->order[state.block_use];
    const schedule::Operation& op = program_.operations[program_.blocks[use.block].op_begin + task.op_begin];
    const auto name = static_cast<std::uint32_t>(operation_name_index(op.kind, op.phase));
    RecordedOperations& operations = *recording_->operations;
    const bool takes_time = state.started != at;
    (takes_time ? recording_->timeline->spans : operations.instants)
        .push_back({first + static_cast<std::uint32_t>(op.stream), name, state.started, at,
                    use.micro_batch_of(op.second), op.layer});
    (takes_time ? operations.of_spans : operations.of_instants)
        .push_back(static_cast<std::uint32_t>(program_.index_of(op)));
}

template <class Sharing>
PlayResult Player<Sharing>::finish() {
    PlayResult result;
    result.step = now_;
    for (const ActorState& actor : actors_) {
        for (const StreamState& state : actor.streams) {
            AUSPEX_CHECK(state.index_in_role == kNone, "every operation has run");
        }
        result.step = std::max(result.step, actor.clock);
    }
    result.forward_backward = forward_backward_;
    result.events = sequence_ + tasks_ahead_;
    for (const double ticks : shared_link_excess_) {
        result.shared_link_excess_s.push_back(ticks_to_seconds(ticks));
    }
    for (const double ticks : waited_for_) {
        result.waited_for_s.push_back(ticks_to_seconds(ticks));
    }
    for (const auto& [link, ticks] : slow_link_) {
        result.slow_link_s.emplace(link, ticks_to_seconds(ticks));
    }
    result.losses.reserve(actors_.size());
    for (ActorState& actor : actors_) {
        close_account(actor, result.step);
        result.losses.push_back(actor.losses);
    }
    return result;
}

}  // namespace auspex::engine
