/// @file The event loop: pieces start when their stream, dependencies and messages allow; transfers flow at max-min
/// fair rates.
#include "sim/engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "sim/engine_state.hpp"

namespace auspex {
namespace {

class Engine {
 public:
    Engine(const CostedProgram& costed, Network& network, Timeline* timeline)
        : costed_(costed), program_(*costed.program), network_(network), timeline_(timeline) {}

    PlayResult run() {
        prepare();
        for (std::uint32_t r = 0; r < roles_.size(); ++r) {
            start_what_can(r);
        }
        while (!events_.empty()) {
            std::pop_heap(events_.begin(), events_.end());
            const Event event = events_.back();
            events_.pop_back();
            AUSPEX_CHECK(event.time >= now_, "time runs forward");
            now_ = event.time;
            handle(event);
        }
        return finish();
    }

 private:
    void prepare();
    void handle(const Event& event);
    PlayResult finish();

    // streams
    void advance_cursor(RoleState& role, std::size_t stream, bool first);
    [[nodiscard]] bool can_start(const RoleState& role, std::size_t stream) const;
    void start_what_can(std::uint32_t r);
    void start(std::uint32_t r, std::size_t stream);
    void end_piece(std::uint32_t r, std::size_t stream, const Piece& piece);
    [[nodiscard]] const Piece& piece_of(const RoleState& role, std::uint32_t use, std::uint32_t piece) const {
        return costed_.pieces[costed_.blocks[role.role->order[use].block].piece_begin + piece];
    }
    [[nodiscard]] std::size_t message_index(const RoleState& role, std::uint32_t use, const Piece& piece) const {
        const auto m = static_cast<std::size_t>(role.role->order[use].micro_batch);
        const std::size_t boundaries = roles_.size() * static_cast<std::size_t>(program_.chunks);
        const std::size_t boundary =
            (piece.backward_message ? boundaries : 0) + static_cast<std::size_t>(piece.message);
        return boundary * static_cast<std::size_t>(program_.micro_batches) + m;
    }
    [[nodiscard]] Message& message_of(const RoleState& role, std::uint32_t use, const Piece& piece) {
        return messages_[message_index(role, use, piece)];
    }

    // compute beside collectives
    void schedule_compute_end(std::uint32_t r);
    void change_collectives(std::uint32_t r, const Piece& piece, int by);

    // transfers
    void start_transfer(std::uint32_t r, std::size_t stream, const Piece& piece);
    void begin_phase(std::uint32_t index);
    void update_rates();
    void step_transfer(const Event& event);
    void arrive_world(std::uint32_t r, const Piece& piece);

    // losses
    void account(RoleState& role, Loss loss, Picoseconds until) {
        if (until > role.accounted) {
            role.losses[static_cast<std::size_t>(loss)] += until - role.accounted;
            role.accounted = until;
        }
    }
    void account_transfer(RoleState& role, const Piece& piece, Picoseconds started);
    [[nodiscard]] bool blocked_by_collective(const RoleState& role) const;
    void record(const RoleState& role, std::uint32_t use, const Piece& piece, Picoseconds start, Picoseconds end);

    void push(Event event) {
        event.sequence = ++sequence_;
        events_.push_back(event);
        std::push_heap(events_.begin(), events_.end());
    }

    const CostedProgram& costed_;
    const Program& program_;
    Network& network_;
    Timeline* timeline_;
    std::vector<RoleState> roles_;
    std::vector<Message> messages_;
    std::vector<Active> active_;
    std::vector<World> worlds_;
    std::vector<Event> events_;
    std::vector<PatternId> patterns_;
    std::vector<std::uint32_t> flowing_;
    std::uint64_t sequence_ = 0;
    std::vector<Picoseconds> excess_ = std::vector<Picoseconds>(kOperationNames, 0);
    Picoseconds now_ = 0, forward_backward_ = 0;
};

void Engine::prepare() {
    roles_.resize(program_.roles.size());
    messages_.resize(2 * roles_.size() * static_cast<std::size_t>(program_.chunks * program_.micro_batches));
    for (std::size_t r = 0; r < roles_.size(); ++r) {
        RoleState& role = roles_[r];
        role.role = &program_.roles[r];
        std::uint32_t offset = 0;
        for (const BlockUse& use : role.role->order) {
            role.use_offset.push_back(offset);
            offset += costed_.blocks[use.block].piece_end - costed_.blocks[use.block].piece_begin;
        }
        role.done.assign(offset, 0);
        role.start.assign(offset, 0);
        role.pieces_left = offset;
        for (std::size_t s = 0; s < kStreamCount; ++s) {
            advance_cursor(role, s, true);
        }
    }
}

/// Moves a stream to its next piece in program order.
void Engine::advance_cursor(RoleState& role, std::size_t stream, bool first) {
    StreamState& state = role.streams[stream];
    if (!first) {
        ++state.piece;
    }
    const auto& order = role.role->order;
    for (; state.use < order.size(); ++state.use, state.piece = 0) {
        const CostedBlock& block = costed_.blocks[order[state.use].block];
        for (; state.piece < block.piece_end - block.piece_begin; ++state.piece) {
            if (static_cast<std::size_t>(costed_.pieces[block.piece_begin + state.piece].stream) == stream) {
                state.flat = role.use_offset[state.use] + state.piece;
                return;
            }
        }
    }
    state.flat = kNone;
}

bool Engine::can_start(const RoleState& role, std::size_t stream) const {
    const StreamState& state = role.streams[stream];
    if (state.flat == kNone || state.in_flight != kNone) {
        return false;
    }
    const Piece& piece = piece_of(role, state.use, state.piece);
    for (std::uint32_t d = piece.dep_begin; d < piece.dep_end; ++d) {
        if (role.done[role.use_offset[state.use] + costed_.dependencies[d]] == 0) {
            return false;
        }
    }
    for (std::size_t s = 0; s < kStreamCount; ++s) {
        if (((piece.joins >> s) & 1U) != 0 && role.streams[s].first_unfinished() < state.flat) {
            return false;
        }
    }
    if (piece.type == Piece::Type::kReceive) {
        return messages_[message_index(role, state.use, piece)].arrived <= now_;
    }
    return true;
}

void Engine::start_what_can(std::uint32_t r) {
    bool started = true;
    while (started) {
        started = false;
        for (std::size_t s = 0; s < kStreamCount; ++s) {
            while (can_start(roles_[r], s)) {
                start(r, s);
                started = true;
            }
        }
    }
}

void Engine::start(std::uint32_t r, std::size_t stream) {
    RoleState& role = roles_[r];
    StreamState& state = role.streams[stream];
    const Piece& piece = piece_of(role, state.use, state.piece);
    role.start[state.flat] = now_;
    switch (piece.type) {
        case Piece::Type::kReceive: {
            const Message& message = message_of(role, state.use, piece);
            account(role, Loss::kBubble, std::min(now_, message.sent));
            account(role, Loss::kExposedPp, now_);
            state.in_flight = state.flat;
            end_piece(r, stream, piece);
            return;
        }
        case Piece::Type::kCompute:
            account(role, Loss::kWaiting, now_);
            state.in_flight = state.flat;
            role.work_left = static_cast<double>(piece.duration);
            role.work_since = now_;
            schedule_compute_end(r);
            return;
        case Piece::Type::kTransfer:
            state.in_flight = state.flat;
            start_transfer(r, stream, piece);
            return;
        case Piece::Type::kWorld:
            state.in_flight = state.flat;
            arrive_world(r, piece);
            return;
    }
}

void Engine::schedule_compute_end(std::uint32_t r) {
    RoleState& role = roles_[r];
    const double rate = role.collectives > 0 ? 1 - costed_.collective_compute_share : 1;
    const auto left = static_cast<Picoseconds>(std::ceil(role.work_left / rate));
    push({now_ + left, 0, Event::Type::kComputeEnd, r, role.streams[0].in_flight, ++role.compute_generation});
}

/// A collective of the same tile starts (+1) or ends (-1): compute in flight changes its pace.
void Engine::change_collectives(std::uint32_t r, const Piece& piece, int by) {
    RoleState& role = roles_[r];
    if (costed_.collective_compute_share <= 0 || piece.stream == Stream::kPp) {
        return;
    }
    const bool before = role.collectives > 0;
    const double rate = before ? 1 - costed_.collective_compute_share : 1;
    role.collectives += by;
    if (by > 0) {
        role.interference = piece.loss;
    }
    if (before == (role.collectives > 0) || role.streams[0].in_flight == kNone) {
        return;
    }
    role.work_left = std::max(0.0, role.work_left - static_cast<double>(now_ - role.work_since) * rate);
    role.work_since = now_;
    schedule_compute_end(r);
}

void Engine::start_transfer(std::uint32_t r, std::size_t stream, const Piece& piece) {
    RoleState& role = roles_[r];
    const StreamState& state = role.streams[stream];
    if (piece.message >= 0) {
        message_of(role, state.use, piece).sent = now_;
    }
    change_collectives(r, piece, 1);
    if (!piece.shares) {
        push({now_ + piece.duration, 0, Event::Type::kPrivateEnd, r, state.flat, static_cast<std::uint32_t>(stream)});
        return;
    }
    std::uint32_t index = 0;
    while (index < active_.size() && active_[index].alive) {
        ++index;
    }
    if (index == active_.size()) {
        active_.emplace_back();
    }
    Active& a = active_[index];
    const std::uint32_t generation = a.generation;
    a = {r, state.flat, state.use, state.piece, piece.transfer, 0, false, 0, 0, now_, generation, true};
    begin_phase(index);
}

/// Enters the latency part of the transfer's present phase.
void Engine::begin_phase(std::uint32_t index) {
    Active& a = active_[index];
    const TransferPhase& phase = costed_.transfers[a.transfer].phases[a.phase];
    a.flowing = false;
    push({now_ + to_picoseconds(phase.latency_s), 0, Event::Type::kTransferStep, index, a.flat, ++a.generation});
}

/// Called when the set of flowing transfers has changed: settles what has flowed, solves the new rates, schedules the
/// new ends.
void Engine::update_rates() {
    flowing_.clear();
    patterns_.clear();
    for (std::uint32_t i = 0; i < active_.size(); ++i) {
        Active& a = active_[i];
        if (a.alive && a.flowing) {
            a.bytes_left = std::max(0.0, a.bytes_left - a.rate * to_seconds(now_ - a.since));
            a.since = now_;
            flowing_.push_back(i);
            patterns_.push_back(costed_.transfers[a.transfer].phases[a.phase].pattern);
        }
    }
    if (flowing_.empty()) {
        return;
    }
    const std::span<const double> rates = network_.rates(patterns_);
    for (std::size_t i = 0; i < flowing_.size(); ++i) {
        Active& a = active_[flowing_[i]];
        a.rate = rates[i];
        const auto left = static_cast<Picoseconds>(std::ceil(a.bytes_left / a.rate * 1e12));
        push({now_ + left, 0, Event::Type::kTransferStep, flowing_[i], a.flat, ++a.generation});
    }
}

void Engine::step_transfer(const Event& event) {
    Active& a = active_[event.role];
    if (!a.alive || a.generation != event.generation) {
        return;
    }
    const Transfer& transfer = costed_.transfers[a.transfer];
    if (!a.flowing) {
        a.flowing = true;
        a.bytes_left = transfer.phases[a.phase].bytes;
        a.rate = 0;
        a.since = now_;
        update_rates();
        return;
    }
    a.flowing = false;
    if (++a.phase < transfer.phases.size()) {
        begin_phase(event.role);
        update_rates();
        return;
    }
    a.alive = false;
    update_rates();
    const Active ended = active_[event.role];
    RoleState& role = roles_[ended.role];
    const Piece& piece = piece_of(role, ended.use, ended.piece);
    end_piece(ended.role, static_cast<std::size_t>(piece.stream), piece);
    start_what_can(ended.role);
}

void Engine::arrive_world(std::uint32_t r, const Piece& piece) {
    RoleState& role = roles_[r];
    const std::uint32_t index = role.worlds++;
    if (index == worlds_.size()) {
        worlds_.emplace_back();
        worlds_.back().flats.resize(roles_.size());
    }
    World& world = worlds_[index];
    world.flats[r] = role.streams[static_cast<std::size_t>(piece.stream)].flat;
    world.duration = std::max(world.duration, piece.duration);
    if (++world.arrived < static_cast<int>(roles_.size())) {
        return;
    }
    world.start = now_;
    for (std::uint32_t other = 0; other < roles_.size(); ++other) {
        push({now_ + world.duration, 0, Event::Type::kWorldEnd, other, world.flats[other],
              static_cast<std::uint32_t>(piece.stream)});
        roles_[other].start[world.flats[other]] = now_;
    }
}

/// True if a collective that this software does not overlap with compute is in flight.
bool Engine::blocked_by_collective(const RoleState& role) const {
    const auto in_flight = [&role](Stream stream) {
        return role.streams[static_cast<std::size_t>(stream)].in_flight != kNone;
    };
    return in_flight(Stream::kCp) || (!program_.overlap_tp && in_flight(Stream::kTp)) ||
           (!program_.overlap_ep && in_flight(Stream::kEp)) || (!program_.overlap_dp && in_flight(Stream::kDp));
}

/// Divides compute's idle time up to now: what preceded the transfer is the drain of the pipeline, or waiting; the rest
/// is the transfer's own.
void Engine::account_transfer(RoleState& role, const Piece& piece, Picoseconds started) {
    const StreamState& compute = role.streams[0];
    if (compute.in_flight != kNone) {
        return;
    }
    if (compute.flat != kNone && piece_of(role, compute.use, compute.piece).type == Piece::Type::kReceive &&
        costed_.blocks[role.role->order[compute.use].block].kind != BlockKind::kOptimizer &&
        piece.stream == Stream::kPp && program_.overlap_pp) {
        return;  // compute waits for a message, not for this
    }
    if (piece.stream == Stream::kPp && program_.overlap_pp && blocked_by_collective(role)) {
        return;  // compute waits for the collective, which books the time when it ends
    }
    if (piece.type == Piece::Type::kWorld) {
        account(role, Loss::kBubble, std::min(started, forward_backward_));
    }
    account(role, Loss::kWaiting, started);
    account(role, Loss::kJitter, std::min(now_, started + piece.jitter));
    account(role, Loss::kImbalance, std::min(now_, role.accounted + piece.imbalance));
    account(role, piece.loss, now_);
}

void Engine::end_piece(std::uint32_t r, std::size_t stream, const Piece& piece) {
    RoleState& role = roles_[r];
    StreamState& state = role.streams[stream];
    const std::uint32_t flat = state.in_flight;
    const Picoseconds started = role.start[flat];
    state.in_flight = kNone;
    role.done[flat] = 1;
    --role.pieces_left;
    const std::uint32_t use = state.use;
    record(role, use, piece, started, now_);
    if (piece.type == Piece::Type::kCompute) {
        for (std::size_t loss = 0; loss < kLossCount; ++loss) {
            role.losses[loss] += piece.parts[loss];
        }
        role.losses[static_cast<std::size_t>(role.interference)] += (now_ - started) - piece.duration;
        role.accounted = now_;
    } else if (piece.type != Piece::Type::kReceive) {
        account_transfer(role, piece, started);
    }
    if (costed_.blocks[role.role->order[use].block].kind == BlockKind::kBackward) {
        forward_backward_ = now_;
    }
    if (piece.type == Piece::Type::kTransfer) {
        change_collectives(r, piece, -1);
        if (piece.shares) {
            const Operation& op =
                program_.operations[program_.blocks[role.role->order[use].block].op_begin + piece.op_begin];
            excess_[operation_name_index(op.kind, op.phase)] += (now_ - started) - piece.duration;
        }
    }
    const std::int32_t boundary = piece.type == Piece::Type::kTransfer ? piece.message : -1;
    if (boundary >= 0) {
        message_of(role, use, piece).arrived = now_;
    }
    advance_cursor(role, stream, false);
    if (boundary >= 0) {
        const auto virtual_stage = static_cast<std::size_t>(boundary + (piece.backward_message ? 0 : 1));
        start_what_can(static_cast<std::uint32_t>(virtual_stage % roles_.size()));
    }
}

void Engine::handle(const Event& event) {
    if (event.type == Event::Type::kTransferStep) {
        step_transfer(event);
        return;
    }
    RoleState& role = roles_[event.role];
    std::size_t stream = 0;
    if (event.type == Event::Type::kComputeEnd) {
        if (role.compute_generation != event.generation || role.streams[0].in_flight != event.flat) {
            return;
        }
    } else {
        stream = event.generation;
    }
    const StreamState& state = role.streams[stream];
    end_piece(event.role, stream, piece_of(role, state.use, state.piece));
    start_what_can(event.role);
}

void Engine::record(const RoleState& role, std::uint32_t use, const Piece& piece, Picoseconds start, Picoseconds end) {
    if (timeline_ == nullptr || start == end) {
        return;
    }
    AUSPEX_CHECK(piece.op_end == piece.op_begin + 1, "a timeline is recorded from single operations");
    const Block& block = program_.blocks[role.role->order[use].block];
    const Operation& op = program_.operations[block.op_begin + piece.op_begin];
    const auto track = static_cast<std::uint32_t>(static_cast<std::size_t>(role.role->stage) * kStreamCount +
                                                  static_cast<std::size_t>(op.stream));
    const auto name = static_cast<std::uint32_t>(operation_name_index(op.kind, op.phase));
    timeline_->spans.push_back({track, name, start, end, role.role->order[use].micro_batch, op.layer});
}

PlayResult Engine::finish() {
    PlayResult result;
    for (const RoleState& role : roles_) {
        AUSPEX_CHECK(role.pieces_left == 0, "every operation has run");
    }
    result.step = now_;
    result.forward_backward = forward_backward_;
    result.events = sequence_;
    result.shared_link_excess = std::move(excess_);
    for (RoleState& role : roles_) {
        account(role, Loss::kWaiting, now_);
        Picoseconds sum = 0;
        for (const Picoseconds part : role.losses) {
            sum += part;
        }
        AUSPEX_CHECK(sum == result.step, "losses sum to the step");
        result.losses.push_back(role.losses);
    }
    return result;
}

}  // namespace

PlayResult play(const CostedProgram& costed, Network& network, Timeline* timeline) {
    if (timeline != nullptr) {
        *timeline = empty_timeline(*costed.program);
    }
    return Engine(costed, network, timeline).run();
}

}  // namespace auspex
