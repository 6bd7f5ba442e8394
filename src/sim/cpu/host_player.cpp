/// @file The ranks of a host machine: their actions, their messages, their time.
#include "sim/cpu/host_player.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

#include "base/error.hpp"
#include "schedule/step_length.hpp"
#include "sim/cpu/host_mailbox.hpp"
#include "sim/cpu/host_refill.hpp"
#include "sim/cpu/host_speeds.hpp"
#include "sim/cpu/host_wires.hpp"

namespace auspex {
namespace {

enum class State : std::uint8_t {
    kQueued,  ///< could run, has no core
    kSeeing,  ///< will see what has come, on a core that is idle
    kRunning,
    kWaiting,   ///< for messages; has given its core away
    kSpinning,  ///< for messages, on its core
    kEnded
};

constexpr double kOthersWork_s = 1;  ///< what a process of others computes, again and again

struct Process {
    State state = State::kQueued;
    HostRow row;
    std::size_t at = 0;     ///< the row's action
    bool is_begun = false;  ///< it takes time: the action's work, or the taking of a message
    HostWork rest;          ///< what the end of a turn has left of that
    std::uint32_t taken = kNoMessage;
    int open = 0;                          ///< messages that the row waits for
    std::deque<std::uint32_t> arrived;     ///< of those it receives: to be taken
    std::vector<std::uint32_t> unseen;     ///< have arrived before they were asked for
    std::vector<std::uint32_t> offered;    ///< of those it asked for: answered as soon as it is in MPI
    std::vector<std::uint32_t> asked_for;  ///< of those it sent: flow as soon as it is in MPI
    Picoseconds row_start = 0, accounted = 0;
};

class Player {
 public:
    Player(const Machine& machine, const HostPlaces& places, HostManners manners, const HostProgram& program)
        : host_(machine.host),
          places_(places),
          manners_(manners),
          program_(program),
          processes_(places.of_rank.size()),
          mailbox_(static_cast<int>(places.of_rank.size())),
          speeds_(host_, places, manners.bound, events_),
          turns_(host_, places, manners, events_),
          refill_(host_, places, manners.bound),
          wires_(places.nics, machine.node.nic_bytes_per_s, host_.far.burst_bytes, events_) {
        played_.losses.resize(processes_.size());
        played_.ends.resize(processes_.size());
        running_ = places.ranks();
    }

    HostPlayed run() {
        for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
            turns_.enter(static_cast<int>(rank), 0);
        }
        while (running_ > 0) {
            if (events_.empty() || events_.next_time() > now_) {
                speeds_.settle(now_);
                wires_.settle(now_);
            }
            if (events_.empty()) {
                break;
            }
            const HostEvent event = events_.take();
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
    [[nodiscard]] const HostPlace& place(int rank) const { return places_.of_rank[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool is_other(int rank) const { return rank >= places_.ranks(); }
    [[nodiscard]] bool are_far(int a, int b) const { return place(a).node != place(b).node; }

    void handle(const HostEvent& event) {
        const int rank = static_cast<int>(event.index);
        switch (event.kind) {
            case HostEvent::Kind::kStart: start(rank); break;
            case HostEvent::Kind::kResume: resume(rank); break;
            case HostEvent::Kind::kWorkEnd:
                if (speeds_.has_ended(event)) {
                    speeds_.stop(rank, now_);
                    end_work(rank);
                    go_on(rank);
                }
                break;
            case HostEvent::Kind::kSlice: preempt(turns_.preempted(event)); break;
            case HostEvent::Kind::kFlowEnd:
                for (const std::uint32_t message : wires_.ended(event)) {
                    arrive_later(message);
                }
                break;
            case HostEvent::Kind::kOffer: offer(event.index); break;
            case HostEvent::Kind::kAnswer: have_answer(event.index); break;
            case HostEvent::Kind::kArrival: arrive(event.index); break;
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
        account(rank, p.state == State::kQueued ? Loss::kWaiting : p.row.loss, now_);
        p.state = State::kRunning;
        turns_.started(rank, now_);
        refill_.enter(rank);
        if (p.rest.seconds > 0) {
            speeds_.start(rank, p.rest, now_);
            p.rest = {};
            return;
        }
        if (p.is_begun) {
            end_work(rank);
        }
        go_on(rank);
    }

    void preempt(int rank) {
        if (rank >= 0) {
            Process& p = process(rank);
            p.rest = speeds_.stop(rank, now_);
            account(rank, p.row.loss, now_);
            p.state = State::kQueued;
            refill_.leave(rank);
        }
    }

    void resume(int rank) {
        Process& p = process(rank);
        if (p.state == State::kSpinning) {
            speeds_.stop(rank, now_);
            p.state = State::kRunning;
            go_on(rank);
        }
    }

    void wake(int rank) {
        Process& p = process(rank);
        if (p.state == State::kSpinning) {
            events_.add(now_, HostEvent::Kind::kResume, static_cast<std::uint32_t>(rank));
        } else if (p.state == State::kWaiting) {
            const bool sees = turns_.wake(rank, now_);
            if (!sees) {
                account(rank, p.row.loss, now_);
            }
            p.state = sees ? State::kSeeing : State::kQueued;
        }
    }

    void stand_by(int rank) {
        Process& p = process(rank);
        account(rank, p.row.loss, now_);
        if (manners_.yields) {
            p.state = State::kWaiting;
            refill_.leave(rank);
            turns_.wait(rank, now_);
            return;
        }
        p.state = State::kSpinning;
        if (host_.core_slice_s == 0) {
            speeds_.spin(rank, now_);
        }
    }

    // Actions.

    /// From action to action, until one takes time.
    void go_on(int rank) {
        Process& p = process(rank);
        while (p.state == State::kRunning && !p.is_begun) {
            if (p.at == p.row.actions.size()) {
                next_row(rank);
                continue;
            }
            const HostAction& action = p.row.actions[p.at];
            switch (action.type) {
                case HostAction::Type::kWork: begin_kernel(rank, action.work); break;
                case HostAction::Type::kSend:
                    send_asked_for(rank);
                    begin(rank, {.seconds = send_s(rank, action)});
                    break;
                case HostAction::Type::kReceive: ask_for(rank, action); break;
                case HostAction::Type::kWait: wait(rank); break;
            }
        }
    }

    void next_row(int rank) {
        Process& p = process(rank);
        account(rank, p.row.loss, now_);
        if (is_other(rank)) {
            p.row.actions = {{.type = HostAction::Type::kWork, .work = {.seconds = kOthersWork_s}}};
            p.at = 0;
            return;
        }
        if (p.at > 0) {
            program_.ended(rank, p.row, p.row_start, now_);
        }
        p.at = 0;
        p.row_start = now_;
        p.row = {};
        if (!program_.next(rank, p.row)) {
            --running_;
            p.state = State::kEnded;
            played_.ends[static_cast<std::size_t>(rank)] = now_;
            turns_.end(rank, now_);
        } else if (p.row.actions.empty()) {
            program_.ended(rank, p.row, now_, now_);
        }
    }

    void begin_kernel(int rank, HostWork work) {
        work.seconds += refill_.refill_s(rank, work.cache_bytes, work.near_bytes);
        begin(rank, work);
    }

    void begin(int rank, const HostWork& work) {
        process(rank).is_begun = true;
        if (work.seconds > 0) {
            speeds_.start(rank, work, now_);
        } else {
            end_work(rank);
        }
    }

    void end_work(int rank) {
        Process& p = process(rank);
        p.is_begun = false;
        if (p.taken != kNoMessage) {
            end_taking(rank);
            return;
        }
        if (p.row.actions[p.at].type == HostAction::Type::kSend) {
            end_sending(rank, p.row.actions[p.at]);
        }
        ++p.at;
    }

    void wait(int rank) {
        Process& p = process(rank);
        send_asked_for(rank);
        answer_offers(rank);
        see(rank);
        if (p.arrived.empty() && p.open == 0) {
            ++p.at;
        } else if (p.arrived.empty()) {
            stand_by(rank);
        } else {
            const std::uint32_t message = p.arrived.front();
            p.arrived.pop_front();
            take(rank, message);
        }
    }

    void take(int rank, std::uint32_t message) {
        process(rank).taken = message;
        begin(rank, {.seconds = receive_s(mailbox_[message]), .memory_bytes = mailbox_[message].memory_bytes});
    }

    /// Who waits sees all that has come, also what it has not asked for.
    void see(int rank) {
        Process& p = process(rank);
        for (const std::uint32_t message : p.unseen) {
            HostMessage& m = mailbox_[message];
            m.seen = true;
            if (m.sender_waits && !m.is_long) {
                m.sender_waits = false;
                let_go(m.from);
            }
        }
        p.unseen.clear();
    }

    /// One thing less that a sender waits for.
    void let_go(int sender) {
        Process& p = process(sender);
        --p.open;
        if (p.open == 0) {
            wake(sender);
        }
    }

    // Messages.

    [[nodiscard]] double send_s(int rank, const HostAction& action) const {
        const bool far = are_far(rank, action.peer);
        return send_cpu_s(far ? host_.far : host_.near, action.bytes, far);
    }
    [[nodiscard]] double receive_s(const HostMessage& m) const {
        const CpuLaw& copy = host_.laws.front()[static_cast<std::size_t>(CpuKernel::kCopy)];
        const double from_memory_s = m.memory_bytes > 0 ? m.memory_bytes * far_byte_s(host_, copy) : 0;
        return receive_cpu_s(m.far ? host_.far : host_.near, m.bytes) + from_memory_s;
    }

    void end_sending(int rank, const HostAction& action) {
        const std::uint32_t index = mailbox_.send(rank, action.peer, action.tag);
        HostMessage& m = mailbox_[index];
        m.far = are_far(rank, action.peer);
        m.bytes = action.bytes;
        m.memory_bytes = action.memory_bytes;
        const MessagePath& path = m.far ? host_.far : host_.near;
        m.is_long = action.bytes > path.eager_bytes;
        m.sent_at = now_;
        m.sender_waits = action.is_waited_for && (m.is_long || action.bytes > path.at_once_bytes);
        process(rank).open += m.sender_waits ? 1 : 0;
        if (!m.far) {
            arrive_later(index);
        } else if (m.is_long) {
            events_.add(now_ + to_picoseconds(path.latency_s), HostEvent::Kind::kOffer, index);
        } else {
            flow(index);
        }
    }

    void ask_for(int rank, const HostAction& action) {
        Process& p = process(rank);
        const std::uint32_t index = mailbox_.receive(action.peer, rank, action.tag);
        const HostMessage& m = mailbox_[index];
        ++p.open;
        ++p.at;
        if (m.seen) {
            take(rank, index);
        } else if (m.arrived) {
            std::erase(p.unseen, index);
            p.arrived.push_back(index);
        } else if (m.offered) {
            answer(index);
        }
    }

    /// A long message between nodes: its receiver hears of it, answers when it has asked for it and is in MPI, and its
    /// sender lets it flow when it has the answer and is in MPI.
    void offer(std::uint32_t message) {
        HostMessage& m = mailbox_[message];
        m.offered = true;
        if (m.asked_for) {
            process(m.to).offered.push_back(message);
            wake(m.to);
        }
    }
    void answer(std::uint32_t message) {
        events_.add(now_ + to_picoseconds(host_.far.latency_s), HostEvent::Kind::kAnswer, message);
    }
    void answer_offers(int rank) {
        Process& p = process(rank);
        for (const std::uint32_t message : p.offered) {
            answer(message);
        }
        p.offered.clear();
    }
    void have_answer(std::uint32_t message) {
        const int sender = mailbox_[message].from;
        process(sender).asked_for.push_back(message);
        wake(sender);
    }

    void send_asked_for(int rank) {
        Process& p = process(rank);
        for (const std::uint32_t message : p.asked_for) {
            flow(message);
        }
        p.asked_for.clear();
    }

    void flow(std::uint32_t message) {
        const HostMessage& m = mailbox_[message];
        wires_.start(message, place(m.from).nic, place(m.to).nic, m.bytes, now_);
    }

    void arrive_later(std::uint32_t message) {
        const double latency_s = (mailbox_[message].far ? host_.far : host_.near).latency_s;
        events_.add(now_ + to_picoseconds(latency_s), HostEvent::Kind::kArrival, message);
    }

    void arrive(std::uint32_t message) {
        HostMessage& m = mailbox_[message];
        m.arrived = true;
        if (m.asked_for) {
            Process& receiver = process(m.to);
            receiver.arrived.push_back(message);
            if (receiver.row.waits_for_sender &&
                (receiver.state == State::kWaiting || receiver.state == State::kSpinning)) {
                account(m.to, Loss::kBubble, m.sent_at);
            }
            wake(m.to);
        } else {
            process(m.to).unseen.push_back(message);
        }
    }

    void end_taking(int rank) {
        Process& p = process(rank);
        const HostMessage& m = mailbox_[p.taken];
        --p.open;
        if (m.sender_waits) {
            let_go(m.from);
        }
        mailbox_.forget(p.taken);
        p.taken = kNoMessage;
    }

    HostPlayed finish() {
        played_.step = *std::max_element(played_.ends.begin(), played_.ends.end());
        played_.events = events_.added();
        played_.losses.resize(static_cast<std::size_t>(places_.ranks()));
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

    const Host& host_;
    const HostPlaces& places_;
    HostManners manners_;
    const HostProgram& program_;
    std::vector<Process> processes_;
    HostMailbox mailbox_;
    HostEvents events_;
    HostSpeeds speeds_;
    HostTurns turns_;
    HostRefill refill_;
    HostWires wires_;
    Picoseconds now_ = 0;
    int running_ = 0;  ///< ranks that have not ended
    HostPlayed played_;
};

}  // namespace

HostPlayed play_host_program(const Machine& machine, const HostPlaces& places, HostManners manners,
                             const HostProgram& program) {
    return Player(machine, places, manners, program).run();
}

}  // namespace auspex
