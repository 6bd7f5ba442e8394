/// @file Time slices on cores, and the actions of ranks.
#include "sim/cpu/player.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "schedule/step_length.hpp"
#include "sim/cpu/event_loop.hpp"

namespace auspex::cpu {
namespace {

constexpr double kBackgroundWork_s = 1;  ///< what a process of others computes, again and again

}  // namespace

CpuPlayResult CpuPlayer::run() {
    for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
        scheduler_.admit(static_cast<int>(rank), 0);
    }
    while (running_ > 0) {
        if (events_.empty() || events_.next_time() > now_) {
            contention_.update_rates(now_);
            nic_flows_.update_rates(now_);
        }
        if (events_.empty()) {
            break;
        }
        const CpuEvent event = events_.take();
        now_ = event.time;
        if (now_ >= kLongestTime) {
            schedule::refuse_long_step("the ranks of a host");
        }
        handle(event);
    }
    return finish();
}

void CpuPlayer::handle(const CpuEvent& event) {
    const int rank = static_cast<int>(event.index);
    switch (event.kind) {
        case CpuEvent::Kind::kDispatch: start(rank); break;
        case CpuEvent::Kind::kPoll: resume(rank); break;
        case CpuEvent::Kind::kWorkEnd:
            if (contention_.has_ended(event)) {
                contention_.stop(rank, now_);
                end_work(rank);
                advance(rank);
            }
            break;
        case CpuEvent::Kind::kQuantumEnd: preempt(scheduler_.preempted(event)); break;
        case CpuEvent::Kind::kFlowEnd:
            for (const std::uint32_t message : nic_flows_.ended(event)) {
                schedule_arrival(message);
            }
            break;
        case CpuEvent::Kind::kReadyToSend: on_ready_to_send(event.index); break;
        case CpuEvent::Kind::kClearToSend: on_clear_to_send(event.index); break;
        case CpuEvent::Kind::kArrival: arrive(event.index); break;
    }
}

void CpuPlayer::account(int rank, schedule::Loss loss, Picoseconds until) {
    Process& p = process(rank);
    if (until > p.accounted) {
        played_.losses[static_cast<std::size_t>(rank)][static_cast<std::size_t>(loss)] += until - p.accounted;
        p.accounted = until;
    }
}

void CpuPlayer::start(int rank) {
    Process& p = process(rank);
    account(rank, p.state == ProcessState::kReady ? schedule::Loss::kWaiting : p.operation.loss, now_);
    p.state = ProcessState::kRunning;
    scheduler_.dispatched(rank, now_);
    preemption_delay_.switch_in(rank);
    if (p.remaining_work.seconds > 0) {
        contention_.start(rank, p.remaining_work, now_);
        p.remaining_work = {};
        return;
    }
    if (p.is_begun) {
        end_work(rank);
    }
    advance(rank);
}

void CpuPlayer::preempt(int rank) {
    if (rank >= 0) {
        Process& p = process(rank);
        p.remaining_work = contention_.stop(rank, now_);
        account(rank, p.operation.loss, now_);
        p.state = ProcessState::kReady;
        preemption_delay_.switch_out(rank);
    }
}

void CpuPlayer::resume(int rank) {
    Process& p = process(rank);
    if (p.state == ProcessState::kSpinning) {
        contention_.stop(rank, now_);
        p.state = ProcessState::kRunning;
        advance(rank);
    }
}

void CpuPlayer::wake(int rank) {
    Process& p = process(rank);
    if (p.state == ProcessState::kSpinning) {
        events_.add(now_, CpuEvent::Kind::kPoll, static_cast<std::uint32_t>(rank));
    } else if (p.state == ProcessState::kBlocked) {
        const bool sees = scheduler_.wake(rank, now_);
        if (!sees) {
            account(rank, p.operation.loss, now_);
        }
        p.state = sees ? ProcessState::kWakingUp : ProcessState::kReady;
    }
}

void CpuPlayer::block(int rank) {
    Process& p = process(rank);
    account(rank, p.operation.loss, now_);
    if (wait_policy_.yields) {
        p.state = ProcessState::kBlocked;
        preemption_delay_.switch_out(rank);
        scheduler_.block(rank, now_);
        return;
    }
    p.state = ProcessState::kSpinning;
    if (cpu_.quantum_s == 0) {
        contention_.spin(rank, now_);
    }
}

void CpuPlayer::advance(int rank) {
    Process& p = process(rank);
    while (p.state == ProcessState::kRunning && !p.is_begun) {
        if (p.next_action == p.operation.actions.size()) {
            next_operation(rank);
            continue;
        }
        const RankAction& action = p.operation.actions[p.next_action];
        switch (action.type) {
            case RankAction::Type::kWork: begin_kernel(rank, action.work); break;
            case RankAction::Type::kSend:
                start_cleared_flows(rank);
                begin(rank, {.seconds = send_s(rank, action)});
                break;
            case RankAction::Type::kReceive: post_receive(rank, action); break;
            case RankAction::Type::kWait: wait(rank); break;
        }
    }
}

void CpuPlayer::next_operation(int rank) {
    Process& p = process(rank);
    account(rank, p.operation.loss, now_);
    if (is_background(rank)) {
        p.operation.actions = {{.type = RankAction::Type::kWork, .work = {.seconds = kBackgroundWork_s}}};
        p.next_action = 0;
        return;
    }
    if (p.next_action > 0) {
        program_.ended(rank, p.operation, p.operation_start, now_);
    }
    p.next_action = 0;
    p.operation_start = now_;
    p.operation = {};
    if (!program_.next(rank, p.operation)) {
        --running_;
        p.state = ProcessState::kEnded;
        played_.ends[static_cast<std::size_t>(rank)] = now_;
        scheduler_.exit(rank, now_);
    } else if (p.operation.actions.empty()) {
        program_.ended(rank, p.operation, now_, now_);
    }
}

void CpuPlayer::begin_kernel(int rank, CpuWork work) {
    work.seconds += preemption_delay_.delay_s(rank, work.cache_bytes, work.warm_bytes);
    begin(rank, work);
}

void CpuPlayer::begin(int rank, const CpuWork& work) {
    process(rank).is_begun = true;
    if (work.seconds > 0) {
        contention_.start(rank, work, now_);
    } else {
        end_work(rank);
    }
}

void CpuPlayer::end_work(int rank) {
    Process& p = process(rank);
    p.is_begun = false;
    if (p.receiving != kNoMessage) {
        end_receive(rank);
        return;
    }
    if (p.operation.actions[p.next_action].type == RankAction::Type::kSend) {
        end_send(rank, p.operation.actions[p.next_action]);
    }
    ++p.next_action;
}

void CpuPlayer::wait(int rank) {
    Process& p = process(rank);
    start_cleared_flows(rank);
    answer_ready_to_send(rank);
    poll(rank);
    if (p.arrived.empty() && p.pending == 0) {
        ++p.next_action;
    } else if (p.arrived.empty()) {
        block(rank);
    } else {
        const std::uint32_t message = p.arrived.front();
        p.arrived.pop_front();
        begin_receive(rank, message);
    }
}

void CpuPlayer::begin_receive(int rank, std::uint32_t message) {
    process(rank).receiving = message;
    begin(rank, {.seconds = receive_s(mailbox_[message]), .memory_bytes = mailbox_[message].memory_bytes});
}

void CpuPlayer::poll(int rank) {
    Process& p = process(rank);
    for (const std::uint32_t message : p.unexpected) {
        CpuMessage& m = mailbox_[message];
        m.is_polled = true;
        if (m.sender_blocks && !m.is_rendezvous) {
            m.sender_blocks = false;
            unblock_sender(m.from);
        }
    }
    p.unexpected.clear();
}

void CpuPlayer::unblock_sender(int sender) {
    Process& p = process(sender);
    --p.pending;
    if (p.pending == 0) {
        wake(sender);
    }
}

CpuPlayResult CpuPlayer::finish() {
    played_.step = *std::max_element(played_.ends.begin(), played_.ends.end());
    played_.events = events_.added();
    played_.losses.resize(static_cast<std::size_t>(locations_.ranks()));
    played_.ends.resize(played_.losses.size());
    for (std::size_t rank = 0; rank < played_.ends.size(); ++rank) {
        AUSPEX_CHECK(processes_[rank].state == ProcessState::kEnded,
                     "every rank ends: no message is waited for in vain");
        account(static_cast<int>(rank), schedule::Loss::kWaiting, played_.step);
        const auto& losses = played_.losses[rank];
        AUSPEX_CHECK(std::accumulate(losses.begin(), losses.end(), Picoseconds{0}) == played_.step,
                     "losses sum to the step");
    }
    return std::move(played_);
}

CpuPlayResult play_cpu_program(const models::Machine& machine, const RankLocations& locations, WaitPolicy wait_policy,
                               const CpuProgram& program) {
    return CpuPlayer(machine, locations, wait_policy, program).run();
}

}  // namespace auspex::cpu
