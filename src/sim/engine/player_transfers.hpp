#pragma once
/// @file Player: communication from the meeting of its group to its end, and whose time it was.
#include "sim/engine/event_loop.hpp"

namespace auspex {

template <class Sharing>
void Player<Sharing>::arrive(std::uint32_t a, std::size_t stream, const Piece& piece, Picoseconds at) {
    ActorState& actor = actors_[a];
    if (piece.message >= 0) {
        Message& message = message_of(actor, actor.streams[stream].use, piece);
        message.sent = at;
        message.delay = actor.delay;
    }
    Transferring what;
    what.actor = a;
    what.stream = piece.stream;
    what.transfer = piece.transfer;
    what.started = at;
    what.cause = actor.delay;
    if (piece.meeting == kNone) {
        what.member = costed_.per_stage == 1 ? 0 : actor.place;
        begin(what, piece);
        return;
    }
    what.meeting = piece.meeting;
    what.member = costed_.meetings[piece.meeting].group_of[actor.place];
    const std::uint32_t number = gathering_number(actor, piece.meeting);
    Gathering& gathering = gatherings_[number];
    const Meeting& meeting = costed_.meetings[piece.meeting];
    if (gather(gathering, a, meeting.begin[what.member + 1] - meeting.begin[what.member], at)) {
        what.actor = actor.stage * costed_.per_stage + meeting.actors[meeting.begin[what.member]];
        what.started = gathering.latest.at;
        what.cause = gathering.latest.delay;
        blame(what, gathering, number);
        begin(what, piece);
    }
}

/// True if the actor is the last of `size` to come.
template <class Sharing>
bool Player<Sharing>::gather(Gathering& gathering, std::uint32_t a, std::size_t size, Picoseconds at) const {
    const Moment arrival{at, actors_[a].delay};
    if (gathering.arrived == 0 || at > gathering.latest.at) {
        gathering.last = a;
    }
    gathering.latest = gathering.arrived == 0 ? arrival : later_of(gathering.latest, arrival);
    if (++gathering.arrived < size) {
        return false;
    }
    gathering.arrived = 0;
    return true;
}

/// The others have waited for what slow compute has delayed the last: its own, or, if it comes late out of another
/// group than the others, that of the one who holds this group up.
template <class Sharing>
void Player<Sharing>::blame(const Transferring& what, Gathering& gathering, std::uint32_t number) {
    const auto stream = static_cast<std::size_t>(what.stream);
    double waited = 0;
    std::uint32_t first = gathering.last;
    for_each_member(what, [&](std::uint32_t a) {
        const Picoseconds came = actors_[a].streams[stream].started;
        const Picoseconds slower = std::max<Picoseconds>(0, what.cause.tiles - actors_[a].delay.tiles);
        waited += static_cast<double>(std::min(what.started - came, slower));
        first = came < actors_[first].streams[stream].started ? a : first;
    });
    const std::uint32_t company = actors_[gathering.last].company;
    const bool inherited = company != kNone && company != actors_[first].company;
    if (!inherited || program_.roles.size() == 1) {
        const std::uint32_t drag = inherited ? gatherings_[company].drag : kNone;
        const std::uint32_t cause = drag != kNone ? drag : gathering.last;
        waited_for_[cause] += waited;
        if (gathering.drag == kNone || waited_for_[cause] > waited_for_[gathering.drag]) {
            gathering.drag = cause;
        }
    }
    for_each_member(what, [&](std::uint32_t a) { actors_[a].company = number; });
}

/// All are there at what.started.
template <class Sharing>
void Player<Sharing>::begin(Transferring what, const Piece& piece) {
    const CostedTransfer::Member& member = member_of(what);
    const auto stream = static_cast<std::size_t>(what.stream);
    for_each_member(what, [&](std::uint32_t a) {
        StreamState& state = actors_[a].streams[stream];
        AUSPEX_CHECK(state.in_flight != kNone && piece_of(actors_[a], state).transfer == what.transfer,
                     "a group meets for one communication at a time");
        state.started = what.started;
        change_collectives(a, piece, 1);
    });
    what.late = what.jitter = piece.jitter;
    if (variety_ != nullptr && member.jitter > 0) {
        what.stretch = variety_->stretch(what.actor, member.jitter);
        what.jitter += to_picoseconds(to_seconds(member.alone) * (what.stretch - 1));
    }
    if (!member.shares && costed_.serial) {
        ++walked_;
        end(what, what.started + what.late + stretched(member.alone, what.stretch));
        return;
    }
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(active_.size()));
        active_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    Active& active = active_[index];
    active.what = what;
    active.phase = member.phase_begin;
    active.flowing = false;
    if (member.shares) {
        begin_phase(index, what.started + what.late);
    } else {
        active.phase = member.phase_end;
        push(what.started + what.late + stretched(member.alone, what.stretch), Event::Type::kTransferStep, index,
             ++active.generation);
    }
}

/// Enters the latency part of the transfer's present phase.
template <class Sharing>
void Player<Sharing>::begin_phase(std::uint32_t index, Picoseconds at) {
    Active& active = active_[index];
    const TransferPhase& phase = costed_.transfers[active.what.transfer].phases[active.phase];
    push(at + to_picoseconds(phase.latency_s * active.what.stretch), Event::Type::kTransferStep, index,
         ++active.generation);
}

/// A latency is over, or all bytes of a phase have flowed.
template <class Sharing>
void Player<Sharing>::step(const Event& event) {
    const std::uint32_t index = event.subject;
    Active& active = active_[index];
    if (active.generation != event.generation) {
        return;
    }
    const CostedTransfer& transfer = costed_.transfers[active.what.transfer];
    const std::uint32_t end_phase = transfer.members[active.what.member].phase_end;
    if (active.flowing) {
        sharing_.stop(active.flow);
        flows_changed_ = true;
        active.flowing = false;
        ++active.phase;
    } else if (active.phase < end_phase) {
        const TransferPhase& phase = transfer.phases[active.phase];
        if (phase.bytes > 0) {
            active.flowing = true;
            active.bytes_left = phase.bytes * active.what.stretch;
            active.rate = 0;
            active.since = now_;
            active.flow = sharing_.start(phase.pattern);
            active_of_flow_.resize(std::max<std::size_t>(active_of_flow_.size(), active.flow + 1));
            active_of_flow_[active.flow] = index;
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
    end(Transferring(active.what), now_);
}

/// Called when all events of a time are done: what has flowed is settled for the transfers whose rates have changed,
/// and their new ends are scheduled.
template <class Sharing>
void Player<Sharing>::settle() {
    if (!flows_changed_) {
        return;
    }
    flows_changed_ = false;
    for (const std::uint32_t flow : sharing_.settle()) {
        Active& active = active_[active_of_flow_[flow]];
        const double rate = sharing_.rate(flow);
        if (rate == active.rate) {
            continue;
        }
        active.bytes_left = std::max(0.0, active.bytes_left - active.rate * to_seconds(now_ - active.since));
        active.since = now_;
        active.rate = rate;
        push(now_ + to_picoseconds_up(active.bytes_left / active.rate), Event::Type::kTransferStep,
             active_of_flow_[flow], ++active.generation);
    }
}

template <class Sharing>
void Player<Sharing>::end(const Transferring& what, Picoseconds at) {
    const auto stream = static_cast<std::size_t>(what.stream);
    const CostedTransfer::Member& member = member_of(what);
    for_each_member(what, [&](std::uint32_t a) {
        ActorState& actor = actors_[a];
        const StreamState& state = actor.streams[stream];
        const Piece& piece = piece_of(actor, state);
        if (member.shares) {
            const Block& block = program_.blocks[actor.role->order[state.use].block];
            const Operation& op = program_.operations[block.op_begin + piece.op_begin];
            excess_[operation_name_index(op.kind, op.phase)] +=
                static_cast<double>(at - what.started - what.late - member.alone);
        }
        if (member.slow > 0) {
            const Picoseconds added = added_by_slow_links(what, at);
            charge(member.slow_link, added);
            if (piece.message >= 0) {
                message_of(actor, state.use, piece).on_slow = added;
                message_of(actor, state.use, piece).slow_link = member.slow_link;
            }
        }
        end_piece_of_transfer(a, stream, what, at);
    });
}

template <class Sharing>
void Player<Sharing>::arrive_world(std::uint32_t a, const Piece& piece, Picoseconds at) {
    ActorState& actor = actors_[a];
    const std::uint32_t number = actor.worlds++;
    if (number == worlds_.size()) {
        worlds_.emplace_back();
    }
    World& world = worlds_[number];
    const CostedTransfer::Member& member = costed_.transfers[piece.transfer].members.front();
    world.what.stream = piece.stream;
    world.what.meeting = kEveryone;
    world.what.late = std::max(world.what.late, piece.jitter);
    world.alone = std::max(world.alone, member.alone);
    if (!gather(world.gathering, a, actors_.size(), at)) {
        return;
    }
    world.what.started = world.gathering.latest.at;
    world.what.cause = world.gathering.latest.delay;
    blame(world.what, world.gathering, kNone);
    world.what.stretch = variety_ != nullptr ? variety_->stretch(0, member.jitter) : 1;
    const Picoseconds duration = stretched(world.alone, world.what.stretch);
    world.what.jitter = world.what.late + duration - world.alone;
    push(world.what.started + world.what.late + duration, Event::Type::kWorldEnd, number);
}

template <class Sharing>
void Player<Sharing>::end_world(const World& world) {
    const auto stream = static_cast<std::size_t>(world.what.stream);
    for_each_member(world.what, [&](std::uint32_t a) {
        actors_[a].streams[stream].started = world.what.started;
        end_piece_of_transfer(a, stream, world.what, now_);
    });
}

template <class Sharing>
void Player<Sharing>::end_piece_of_transfer(std::uint32_t a, std::size_t stream, const Transferring& what,
                                            Picoseconds at) {
    ActorState& actor = actors_[a];
    account_transfer(actor, piece_of(actor, actor.streams[stream]), what, at);
    end_piece(a, stream, at);
    resume(a, stream, at);
}

/// True if an asynchronous message is not what compute waits for: it waits for another message, or for a collective
/// that this software does not overlap, and that books the time when it ends.
template <class Sharing>
bool Player<Sharing>::waits_for_other_than_message(const ActorState& actor) const {
    const auto in_flight = [&actor](Stream stream) {
        return actor.streams[static_cast<std::size_t>(stream)].in_flight != kNone;
    };
    const StreamState& compute = actor.streams[0];
    const bool for_message = compute.flat != kNone && piece_of(actor, compute).type == Piece::Type::kReceive &&
                             block_of(actor, compute.use).kind != BlockKind::kOptimizer;
    return for_message || in_flight(Stream::kCp) || (!program_.overlap_tp && in_flight(Stream::kTp)) ||
           (!program_.overlap_ep && in_flight(Stream::kEp)) || (!program_.overlap_dp && in_flight(Stream::kDp));
}

/// Divides compute's idle time up to the transfer's end: what preceded the transfer is the drain of the pipeline, or
/// waiting; the rest is the transfer's own.
template <class Sharing>
void Player<Sharing>::account_transfer(ActorState& actor, const Piece& piece, const Transferring& what,
                                       Picoseconds at) {
    if (actor.streams[0].in_flight != kNone ||
        (piece.stream == Stream::kPp && program_.overlap_pp && waits_for_other_than_message(actor))) {
        return;
    }
    const bool is_world = piece.type == Piece::Type::kWorld;
    const Moment idle{actor.accounted, actor.delay};
    charge(what.cause.slow_link, account_delay(actor, what.started, {what.started, what.cause}));
    if (is_world) {
        account(actor, Loss::kBubble, std::min(what.started, forward_backward_));
    }
    account(actor, Loss::kWaiting, what.started);
    account(actor, Loss::kJitter, std::min(at, what.started + what.jitter));
    if (!is_world) {
        account(actor, Loss::kImbalance, std::min(at, actor.accounted + member_of(what).imbalance));
    }
    account(actor, piece.loss, at);
    if (variety_ == nullptr || at <= idle.at) {  // who has not waited keeps its own delay
        return;
    }
    Moment end{at, what.cause};
    end.delay.noise += what.meeting != kNone ? what.jitter : 0;
    if (!is_world) {
        add_slow_link(end.delay, added_by_slow_links(what, at), piece.loss, member_of(what).slow_link);
    }
    actor.delay = later_of(idle, end).delay;
}

/// How much longer a transfer that slow links bound has taken than alone at their full capacity: others who crowd on
/// them are their doing, too.
template <class Sharing>
Picoseconds Player<Sharing>::added_by_slow_links(const Transferring& what, Picoseconds at) const {
    const CostedTransfer::Member& member = member_of(what);
    if (member.slow == 0) {
        return 0;
    }
    return std::max<Picoseconds>(0, at - what.started - what.jitter - (member.alone - member.slow));
}

}  // namespace auspex
