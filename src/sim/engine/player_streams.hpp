#pragma once
/// @file Player: streams, compute and the walk of one actor.
#include "sim/engine/event_loop.hpp"

namespace auspex {

template <class Sharing>
void Player<Sharing>::prepare() {
    const std::size_t stages = program_.roles.size();
    for (const Role& role : program_.roles) {
        std::vector<std::uint32_t>& offsets = use_offset_.emplace_back();
        std::uint32_t offset = 0;
        for (const BlockUse& use : role.order) {
            offsets.push_back(offset);
            offset += costed_.blocks[use.block].piece_end - costed_.blocks[use.block].piece_begin;
        }
    }
    actors_.resize(stages * costed_.per_stage);
    messages_.resize(2 * actors_.size() * static_cast<std::size_t>(program_.chunks * program_.micro_batches));
    waited_for_.assign(actors_.size(), 0);
    for (std::uint32_t a = 0; a < actors_.size(); ++a) {
        ActorState& actor = actors_[a];
        actor.stage = a / costed_.per_stage;
        actor.place = a % costed_.per_stage;
        actor.role = &program_.roles[actor.stage];
        for (std::size_t s = 0; s < kStreamCount; ++s) {
            if (!actor.role->order.empty()) {
                actor.streams[s].piece = block_of(actor, 0).first[s];
            }
            find_piece(actor, s, actor.streams[s]);
        }
    }
    for (const Meeting& meeting : costed_.meetings) {
        for (std::size_t stage = 0; stage < stages; ++stage) {
            first_gathering_.push_back(static_cast<std::uint32_t>(gatherings_.size()));
            gatherings_.resize(gatherings_.size() + meeting.groups());
        }
    }
}

/// From `use` on the first block that has a piece of the stream; `piece` says which in the present one.
template <class Sharing>
void Player<Sharing>::find_piece(const ActorState& actor, std::size_t stream, StreamState& state) const {
    const auto& order = actor.role->order;
    while (state.use < order.size() && state.piece == kNone) {
        if (++state.use < order.size()) {
            state.piece = block_of(actor, state.use).first[stream];
        }
    }
    state.flat = state.use < order.size() ? use_offset_[actor.stage][state.use] + state.piece : kNone;
}

template <class Sharing>
bool Player<Sharing>::is_ready(const ActorState& actor, const StreamState& state) const {
    const std::uint32_t begin = block_of(actor, state.use).piece_begin;
    const Piece& piece = costed_.pieces[begin + state.piece];
    for (std::uint32_t d = piece.dep_begin; d < piece.dep_end; ++d) {
        const std::uint32_t on = costed_.dependencies[d];
        const auto stream = static_cast<std::size_t>(costed_.pieces[begin + on].stream);
        if (actor.streams[stream].first_unfinished() <= state.flat - state.piece + on) {
            return false;
        }
    }
    for (std::size_t s = 0; piece.joins >> s != 0; ++s) {
        if (((piece.joins >> s) & 1U) != 0 && actor.streams[s].first_unfinished() < state.flat) {
            return false;
        }
    }
    if (piece.type == Piece::Type::kReceive) {
        return messages_[message_index(actor, state.use, piece)].arrived != kNever;
    }
    return true;
}

template <class Sharing>
void Player<Sharing>::walk_all() {
    while (!awake_.empty()) {
        const std::uint32_t a = awake_.back();
        awake_.pop_back();
        walk(a);
    }
}

/// Starts all that can start, as far as the actor's own clock may run.
template <class Sharing>
void Player<Sharing>::walk(std::uint32_t a) {
    ActorState& actor = actors_[a];
    if (actor.asleep) {
        return;
    }
    actor.clock = std::max(actor.clock, now_);
    while (!falls_asleep(a) && start_next(a)) {
    }
}

/// Compute last: what runs beside it starts when it can, not after more compute.
template <class Sharing>
bool Player<Sharing>::start_next(std::uint32_t a) {
    for (std::size_t s = kStreamCount; s-- > 0;) {
        if (can_start(actors_[a], s)) {
            if (actors_[a].clock > now_ && needs_events(actors_[a], s)) {
                sleep(a);
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
    for (std::size_t s = 1; s < kStreamCount; ++s) {
        const StreamState& state = actor.streams[s];
        if (s == kPp || (state.flat == kNone && state.in_flight == kNone)) {
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
    const std::uint32_t begin = block_of(actor, state.use).piece_begin;
    const Piece& piece = costed_.pieces[begin + state.piece];
    const auto on_message = [&](std::uint32_t on) { return costed_.pieces[begin + on].stream == Stream::kPp; };
    const auto dependencies = costed_.dependencies.begin();
    return ((piece.joins >> kPp) & 1U) != 0 ||
           std::any_of(dependencies + piece.dep_begin, dependencies + piece.dep_end, on_message);
}

/// Where collectives run beside compute they change its pace: both then start in order of time.
template <class Sharing>
bool Player<Sharing>::needs_events(const ActorState& actor, std::size_t stream) const {
    if (costed_.serial || stream == kPp) {
        return false;
    }
    const Piece& piece = piece_of(actor, actor.streams[stream]);
    return piece.type == Piece::Type::kTransfer || (piece.type == Piece::Type::kCompute && !runs_alone(actor));
}

template <class Sharing>
void Player<Sharing>::sleep(std::uint32_t a) {
    actors_[a].asleep = true;
    push(actors_[a].clock, Event::Type::kWake, a);
}

/// The next message has become ready behind one that is still on its way: it leaves as soon as that one has arrived,
/// which the events will say.
template <class Sharing>
bool Player<Sharing>::falls_asleep(std::uint32_t a) {
    ActorState& actor = actors_[a];
    if (actor.streams[kPp].in_flight == kNone) {
        return false;
    }
    StreamState next = actor.streams[kPp];
    next.piece = piece_of(actor, next).next;
    find_piece(actor, kPp, next);
    if (next.flat == kNone || next.flat == actor.synced || !is_ready(actor, next)) {
        return false;
    }
    actor.synced = next.flat;
    actor.synced_at = actor.clock;
    if (actor.clock <= now_) {
        return false;
    }
    sleep(a);
    return true;
}

template <class Sharing>
void Player<Sharing>::start(std::uint32_t a, std::size_t stream, Picoseconds at) {
    ActorState& actor = actors_[a];
    StreamState& state = actor.streams[stream];
    const Piece& piece = piece_of(actor, state);
    state.in_flight = state.flat;
    state.started = at;
    switch (piece.type) {
        case Piece::Type::kReceive: {
            const Message& message = message_of(actor, state.use, piece);
            actor.clock = std::max(at, message.arrived);
            charge(message.delay.slow_link, account_receive(actor, message));
            end_piece(a, stream, actor.clock);
            return;
        }
        case Piece::Type::kCompute: start_compute(a, piece, at); return;
        case Piece::Type::kTransfer: arrive(a, stream, piece, at); return;
        case Piece::Type::kWorld: arrive_world(a, piece, at); return;
    }
}

template <class Sharing>
void Player<Sharing>::start_compute(std::uint32_t a, const Piece& piece, Picoseconds at) {
    ActorState& actor = actors_[a];
    account(actor, Loss::kWaiting, at);
    if (variety_ != nullptr) {
        variety_->draw(costed_, piece, a, actor);
    } else {
        actor.parts = piece.parts;
        actor.duration = piece.duration;
    }
    if (costed_.serial || (costed_.walks && runs_alone(actor))) {
        ++walked_;
        actor.clock = at + actor.duration;
        end_piece(a, 0, actor.clock);
        return;
    }
    actor.work_left = static_cast<double>(actor.duration);
    actor.work_since = at;
    schedule_compute_end(a);
}

template <class Sharing>
void Player<Sharing>::schedule_compute_end(std::uint32_t a) {
    ActorState& actor = actors_[a];
    const double rate = actor.collectives > 0 ? 1 - costed_.collective_compute_share : 1;
    const Picoseconds left = on_clock(std::ceil(actor.work_left / rate));
    push(now_ + left, Event::Type::kComputeEnd, a, ++actor.compute_generation);
}

/// A collective of the same tile starts (+1) or ends (-1): compute in flight changes its pace.
template <class Sharing>
void Player<Sharing>::change_collectives(std::uint32_t a, const Piece& piece, int by) {
    ActorState& actor = actors_[a];
    if (costed_.serial || costed_.collective_compute_share <= 0 || piece.stream == Stream::kPp) {
        return;
    }
    const bool before = actor.collectives > 0;
    const double rate = before ? 1 - costed_.collective_compute_share : 1;
    actor.collectives += by;
    if (by > 0) {
        actor.interference = piece.loss;
    }
    if (before == (actor.collectives > 0) || actor.streams[0].in_flight == kNone) {
        return;
    }
    actor.work_left = std::max(0.0, actor.work_left - static_cast<double>(now_ - actor.work_since) * rate);
    actor.work_since = now_;
    schedule_compute_end(a);
}

/// The piece in flight on the stream has ended.
template <class Sharing>
void Player<Sharing>::end_piece(std::uint32_t a, std::size_t stream, Picoseconds at) {
    ActorState& actor = actors_[a];
    StreamState& state = actor.streams[stream];
    const Piece& piece = piece_of(actor, state);
    if (at >= kLongestTime) {
        refuse_long_step("its operations");
    }
    record(actor, state, piece, at);
    if (piece.type == Piece::Type::kCompute) {
        account_compute(actor, at);
    }
    if (block_of(actor, state.use).kind == BlockKind::kBackward) {
        forward_backward_ = std::max(forward_backward_, at);
    }
    if (piece.type == Piece::Type::kTransfer) {
        change_collectives(a, piece, -1);
        if (piece.message >= 0) {
            message_of(actor, state.use, piece).arrived = at;
            const auto next = static_cast<std::size_t>(piece.message + (piece.backward_message ? 0 : 1));
            awake_.push_back(static_cast<std::uint32_t>(next % program_.roles.size()) * costed_.per_stage +
                             actor.place);
        }
    }
    state.in_flight = kNone;
    state.piece = piece.next;
    find_piece(actor, stream, state);
}

/// The actor goes on after what ended on the stream. A message that waited for the stream leaves now, even if the actor
/// has walked on.
template <class Sharing>
void Player<Sharing>::resume(std::uint32_t a, std::size_t stream, Picoseconds at) {
    ActorState& actor = actors_[a];
    if (stream == kPp && at >= actor.synced_at && can_start(actor, stream)) {
        start(a, stream, at);
    }
    if (actor.asleep && stream == kPp) {
        return;
    }
    actor.clock = std::max(actor.clock, at);
    if (!actor.asleep) {
        awake_.push_back(a);
    }
}

template <class Sharing>
void Player<Sharing>::handle(const Event& event) {
    switch (event.type) {
        case Event::Type::kTransferStep: step(event); return;
        case Event::Type::kWorldEnd: end_world(worlds_[event.subject]); return;
        case Event::Type::kWake:
            actors_[event.subject].asleep = false;
            resume(event.subject, kPp, now_);
            return;
        case Event::Type::kComputeEnd:
            if (actors_[event.subject].compute_generation == event.generation) {
                end_piece(event.subject, 0, now_);
                awake_.push_back(event.subject);
            }
            return;
    }
}

template <class Sharing>
void Player<Sharing>::record(const ActorState& actor, const StreamState& state, const Piece& piece, Picoseconds at) {
    if (timeline_ == nullptr || state.started == at) {
        return;
    }
    AUSPEX_CHECK(piece.op_end == piece.op_begin + 1, "a timeline is recorded from single operations");
    const BlockUse& use = actor.role->order[state.use];
    const Operation& op = program_.operations[program_.blocks[use.block].op_begin + piece.op_begin];
    const auto track = static_cast<std::uint32_t>(static_cast<std::size_t>(actor.role->stage) * kStreamCount +
                                                  static_cast<std::size_t>(op.stream));
    const auto name = static_cast<std::uint32_t>(operation_name_index(op.kind, op.phase));
    timeline_->spans.push_back({track, name, state.started, at, use.micro_batch, op.layer});
}

template <class Sharing>
PlayResult Player<Sharing>::finish() {
    PlayResult result;
    result.step = now_;
    for (const ActorState& actor : actors_) {
        for (const StreamState& state : actor.streams) {
            AUSPEX_CHECK(state.flat == kNone, "every operation has run");
        }
        result.step = std::max(result.step, actor.clock);
    }
    result.forward_backward = forward_backward_;
    result.events = sequence_ + walked_;
    for (const double ticks : excess_) {
        result.shared_link_excess_s.push_back(ticks * 1e-12);
    }
    for (const double ticks : waited_for_) {
        result.waited_for_s.push_back(ticks * 1e-12);
    }
    for (const auto& [link, ticks] : slow_link_) {
        result.slow_link_s.emplace(link, ticks * 1e-12);
    }
    result.losses.reserve(actors_.size());
    for (ActorState& actor : actors_) {
        close_account(actor, result.step);
        result.losses.push_back(actor.losses);
    }
    return result;
}

}  // namespace auspex
