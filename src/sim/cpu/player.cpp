/// @file The ranks of a host machine: their actions, their messages, their time.
#include "sim/cpu/player.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

#include "base/error.hpp"
#include "schedule/step_length.hpp"
#include "sim/cpu/cache_preemption_delay.hpp"
#include "sim/cpu/contention.hpp"
#include "sim/cpu/mailbox.hpp"
#include "sim/cpu/nic_flows.hpp"

namespace auspex {
namespace {

enum class State : std::uint8_t {
    kReady,     ///< could run, has no core
    kWakingUp,  ///< will see what has come, on a core that is idle
    kRunning,
    kBlocked,   ///< for messages; has given its core away
    kSpinning,  ///< for messages, on its core
    kEnded
};

constexpr double kBackgroundWork_s = 1;  ///< what a process of others computes, again and again

struct Process {
    State state = State::kReady;
    OperationActions row;
    std::size_t next_action = 0;  ///< the row's action
    bool is_begun = false;        ///< it takes time: the action's work, or the taking of a message
    CpuWork remaining_work;       ///< what the end of a turn has left of that
    std::uint32_t receiving = kNoMessage;
    int pending = 0;                           ///< messages that the row waits for
    std::deque<std::uint32_t> arrived;         ///< of those it receives: to be taken
    std::vector<std::uint32_t> unexpected;     ///< have arrived before they were asked for
    std::vector<std::uint32_t> ready_to_send;  ///< of those it asked for: answered as soon as it is in MPI
    std::vector<std::uint32_t> clear_to_send;  ///< of those it sent: flow as soon as it is in MPI
    Picoseconds row_start = 0, accounted = 0;
};

class CpuPlayer {
 public:
    CpuPlayer(const Machine& machine, const RankLocations& locations, WaitPolicy wait_policy, const CpuProgram& program)
        : cpu_(machine.cpu),
          locations_(locations),
          wait_policy_(wait_policy),
          program_(program),
          processes_(locations.of_process.size()),
          mailbox_(static_cast<int>(locations.of_process.size())),
          contention_(cpu_, locations, wait_policy.bound, events_),
          scheduler_(cpu_, locations, wait_policy, events_),
          preemption_delay_(cpu_, locations, wait_policy.bound),
          nic_flows_(locations.nics, machine.node.nic_bytes_per_s, cpu_.inter_node.burst_bytes, events_) {
        played_.losses.resize(processes_.size());
        played_.ends.resize(processes_.size());
        running_ = locations.ranks();
    }

    CpuPlayResult run() {
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
                refuse_long_step("the ranks of a host");
            }
            handle(event);
        }
        return finish();
    }

 private:
    [[nodiscard]] Process& process(int rank) { return processes_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] const RankLocation& location_of(int rank) const {
        return locations_.of_process[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] bool is_background(int rank) const { return rank >= locations_.ranks(); }
    [[nodiscard]] bool are_inter_node(int a, int b) const { return location_of(a).node != location_of(b).node; }

    void handle(const CpuEvent& event) {
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

    void account(int rank, Loss loss, Picoseconds until) {
        Process& p = process(rank);
        if (until > p.accounted) {
            played_.losses[static_cast<std::size_t>(rank)][static_cast<std::size_t>(loss)] += until - p.accounted;
            p.accounted = until;
        }
    }

    // Turns.

    void start(int rank) {
        Process& p = process(rank);
        account(rank, p.state == State::kReady ? Loss::kWaiting : p.row.loss, now_);
        p.state = State::kRunning;
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

    void preempt(int rank) {
        if (rank >= 0) {
            Process& p = process(rank);
            p.remaining_work = contention_.stop(rank, now_);
            account(rank, p.row.loss, now_);
            p.state = State::kReady;
            preemption_delay_.switch_out(rank);
        }
    }

    void resume(int rank) {
        Process& p = process(rank);
        if (p.state == State::kSpinning) {
            contention_.stop(rank, now_);
            p.state = State::kRunning;
            advance(rank);
        }
    }

    void wake(int rank) {
        Process& p = process(rank);
        if (p.state == State::kSpinning) {
            events_.add(now_, CpuEvent::Kind::kPoll, static_cast<std::uint32_t>(rank));
        } else if (p.state == State::kBlocked) {
            const bool sees = scheduler_.wake(rank, now_);
            if (!sees) {
                account(rank, p.row.loss, now_);
            }
            p.state = sees ? State::kWakingUp : State::kReady;
        }
    }

    void block(int rank) {
        Process& p = process(rank);
        account(rank, p.row.loss, now_);
        if (wait_policy_.yields) {
            p.state = State::kBlocked;
            preemption_delay_.switch_out(rank);
            scheduler_.block(rank, now_);
            return;
        }
        p.state = State::kSpinning;
        if (cpu_.quantum_s == 0) {
            contention_.spin(rank, now_);
        }
    }

    // Actions.

    /// From action to action, until one takes time.
    void advance(int rank) {
        Process& p = process(rank);
        while (p.state == State::kRunning && !p.is_begun) {
            if (p.next_action == p.row.actions.size()) {
                next_row(rank);
                continue;
            }
            const RankAction& action = p.row.actions[p.next_action];
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

    void next_row(int rank) {
        Process& p = process(rank);
        account(rank, p.row.loss, now_);
        if (is_background(rank)) {
            p.row.actions = {{.type = RankAction::Type::kWork, .work = {.seconds = kBackgroundWork_s}}};
            p.next_action = 0;
            return;
        }
        if (p.next_action > 0) {
            program_.ended(rank, p.row, p.row_start, now_);
        }
        p.next_action = 0;
        p.row_start = now_;
        p.row = {};
        if (!program_.next(rank, p.row)) {
            --running_;
            p.state = State::kEnded;
            played_.ends[static_cast<std::size_t>(rank)] = now_;
            scheduler_.exit(rank, now_);
        } else if (p.row.actions.empty()) {
            program_.ended(rank, p.row, now_, now_);
        }
    }

    void begin_kernel(int rank, CpuWork work) {
        work.seconds += preemption_delay_.delay_s(rank, work.cache_bytes, work.warm_bytes);
        begin(rank, work);
    }

    void begin(int rank, const CpuWork& work) {
        process(rank).is_begun = true;
        if (work.seconds > 0) {
            contention_.start(rank, work, now_);
        } else {
            end_work(rank);
        }
    }

    void end_work(int rank) {
        Process& p = process(rank);
        p.is_begun = false;
        if (p.receiving != kNoMessage) {
            end_receive(rank);
            return;
        }
        if (p.row.actions[p.next_action].type == RankAction::Type::kSend) {
            end_send(rank, p.row.actions[p.next_action]);
        }
        ++p.next_action;
    }

    void wait(int rank) {
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

    void begin_receive(int rank, std::uint32_t message) {
        process(rank).receiving = message;
        begin(rank, {.seconds = receive_s(mailbox_[message]), .memory_bytes = mailbox_[message].memory_bytes});
    }

    /// Who waits sees all that has come, also what it has not asked for.
    void poll(int rank) {
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

    /// One thing less that a sender waits for.
    void unblock_sender(int sender) {
        Process& p = process(sender);
        --p.pending;
        if (p.pending == 0) {
            wake(sender);
        }
    }

    // Messages.

    [[nodiscard]] double send_s(int rank, const RankAction& action) const {
        const bool is_inter_node = are_inter_node(rank, action.peer);
        return send_cpu_s(is_inter_node ? cpu_.inter_node : cpu_.intra_node, action.bytes, is_inter_node);
    }
    [[nodiscard]] double receive_s(const CpuMessage& m) const {
        const CpuKernelCost& copy = cpu_.kernel_costs.front()[static_cast<std::size_t>(CpuKernel::kCopy)];
        const double from_memory_s = m.memory_bytes > 0 ? m.memory_bytes * miss_byte_s(cpu_, copy) : 0;
        return receive_cpu_s(m.is_inter_node ? cpu_.inter_node : cpu_.intra_node, m.bytes) + from_memory_s;
    }

    void end_send(int rank, const RankAction& action) {
        const std::uint32_t index = mailbox_.send(rank, action.peer, action.tag);
        CpuMessage& m = mailbox_[index];
        m.is_inter_node = are_inter_node(rank, action.peer);
        m.bytes = action.bytes;
        m.memory_bytes = action.memory_bytes;
        const MessageCosts& costs = m.is_inter_node ? cpu_.inter_node : cpu_.intra_node;
        m.is_rendezvous = action.bytes > costs.eager_bytes;
        m.sent_at = now_;
        m.sender_blocks = action.is_waited_for && (m.is_rendezvous || action.bytes > costs.buffered_bytes);
        process(rank).pending += m.sender_blocks ? 1 : 0;
        if (!m.is_inter_node) {
            schedule_arrival(index);
        } else if (m.is_rendezvous) {
            events_.add(now_ + to_picoseconds(costs.latency_s), CpuEvent::Kind::kReadyToSend, index);
        } else {
            start_flow(index);
        }
    }

    void post_receive(int rank, const RankAction& action) {
        Process& p = process(rank);
        const std::uint32_t index = mailbox_.receive(action.peer, rank, action.tag);
        const CpuMessage& m = mailbox_[index];
        ++p.pending;
        ++p.next_action;
        if (m.is_polled) {
            begin_receive(rank, index);
        } else if (m.arrived) {
            std::erase(p.unexpected, index);
            p.arrived.push_back(index);
        } else if (m.has_ready_to_send) {
            send_clear_to_send(index);
        }
    }

    /// A long message between nodes: its receiver hears of it, answers when it has asked for it and is in MPI, and its
    /// sender lets it flow when it has the answer and is in MPI.
    void on_ready_to_send(std::uint32_t message) {
        CpuMessage& m = mailbox_[message];
        m.has_ready_to_send = true;
        if (m.is_posted) {
            process(m.to).ready_to_send.push_back(message);
            wake(m.to);
        }
    }
    void send_clear_to_send(std::uint32_t message) {
        events_.add(now_ + to_picoseconds(cpu_.inter_node.latency_s), CpuEvent::Kind::kClearToSend, message);
    }
    void answer_ready_to_send(int rank) {
        Process& p = process(rank);
        for (const std::uint32_t message : p.ready_to_send) {
            send_clear_to_send(message);
        }
        p.ready_to_send.clear();
    }
    void on_clear_to_send(std::uint32_t message) {
        const int sender = mailbox_[message].from;
        process(sender).clear_to_send.push_back(message);
        wake(sender);
    }

    void start_cleared_flows(int rank) {
        Process& p = process(rank);
        for (const std::uint32_t message : p.clear_to_send) {
            start_flow(message);
        }
        p.clear_to_send.clear();
    }

    void start_flow(std::uint32_t message) {
        const CpuMessage& m = mailbox_[message];
        nic_flows_.start(message, location_of(m.from).nic, location_of(m.to).nic, m.bytes, now_);
    }

    void schedule_arrival(std::uint32_t message) {
        const double latency_s = (mailbox_[message].is_inter_node ? cpu_.inter_node : cpu_.intra_node).latency_s;
        events_.add(now_ + to_picoseconds(latency_s), CpuEvent::Kind::kArrival, message);
    }

    void arrive(std::uint32_t message) {
        CpuMessage& m = mailbox_[message];
        m.arrived = true;
        if (m.is_posted) {
            Process& receiver = process(m.to);
            receiver.arrived.push_back(message);
            if (receiver.row.waits_for_sender &&
                (receiver.state == State::kBlocked || receiver.state == State::kSpinning)) {
                account(m.to, Loss::kBubble, m.sent_at);
            }
            wake(m.to);
        } else {
            process(m.to).unexpected.push_back(message);
        }
    }

    void end_receive(int rank) {
        Process& p = process(rank);
        const CpuMessage& m = mailbox_[p.receiving];
        --p.pending;
        if (m.sender_blocks) {
            unblock_sender(m.from);
        }
        mailbox_.release(p.receiving);
        p.receiving = kNoMessage;
    }

    CpuPlayResult finish() {
        played_.step = *std::max_element(played_.ends.begin(), played_.ends.end());
        played_.events = events_.added();
        played_.losses.resize(static_cast<std::size_t>(locations_.ranks()));
        played_.ends.resize(played_.losses.size());
        for (std::size_t rank = 0; rank < played_.ends.size(); ++rank) {
            AUSPEX_CHECK(processes_[rank].state == State::kEnded, "every rank ends: no message is waited for in vain");
            account(static_cast<int>(rank), Loss::kWaiting, played_.step);
            const auto& losses = played_.losses[rank];
            AUSPEX_CHECK(std::accumulate(losses.begin(), losses.end(), Picoseconds{0}) == played_.step,
                         "losses sum to the step");
        }
        return std::move(played_);
    }

    const CpuModel& cpu_;
    const RankLocations& locations_;
    WaitPolicy wait_policy_;
    const CpuProgram& program_;
    std::vector<Process> processes_;
    Mailbox mailbox_;
    CpuEventQueue events_;
    CpuContention contention_;
    CpuScheduler scheduler_;
    CachePreemptionDelay preemption_delay_;
    NicFlows nic_flows_;
    Picoseconds now_ = 0;
    int running_ = 0;  ///< ranks that have not ended
    CpuPlayResult played_;
};

}  // namespace

CpuPlayResult play_cpu_program(const Machine& machine, const RankLocations& locations, WaitPolicy wait_policy,
                               const CpuProgram& program) {
    return CpuPlayer(machine, locations, wait_policy, program).run();
}

}  // namespace auspex
