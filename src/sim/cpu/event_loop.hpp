#pragma once
/// @file The event loop of ranks on shared cores: who has a core, what it does there, where its messages are.
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/cpu/cache_preemption_delay.hpp"
#include "sim/cpu/contention.hpp"
#include "sim/cpu/mailbox.hpp"
#include "sim/cpu/nic_flows.hpp"
#include "sim/cpu/play_result.hpp"
#include "sim/cpu/scheduler.hpp"

namespace auspex::cpu {

/// What a process does.
enum class ProcessState : std::uint8_t {
    kReady,     ///< could run, has no core
    kWakingUp,  ///< will see what has come, on a core that is idle
    kRunning,
    kBlocked,   ///< for messages; has given its core away
    kSpinning,  ///< for messages, on its core
    kEnded
};

/// A rank, or a process of others.
struct Process {
    ProcessState state = ProcessState::kReady;
    OperationActions operation;
    std::size_t next_action = 0;  ///< index in operation.actions
    bool is_begun = false;        ///< what takes time: the action's work, or the receiving of a message
    CpuWork remaining_work;       ///< what a preemption has left of that
    std::uint32_t receiving = kNoMessage;
    int pending = 0;                           ///< messages that the operation waits for
    std::deque<std::uint32_t> arrived;         ///< posted and arrived, not yet received
    std::vector<std::uint32_t> unexpected;     ///< arrived before their receive was posted
    std::vector<std::uint32_t> ready_to_send;  ///< posted, sender ready: answered as soon as it is in MPI
    std::vector<std::uint32_t> clear_to_send;  ///< of those it sends: flow as soon as it is in MPI
    Picoseconds operation_start = 0;
    Picoseconds accounted = 0;  ///< its time up to here is booked as losses
};

/// Plays a CpuProgram: an event wakes a process, which goes from action to action until one takes time.
class CpuPlayer {
 public:
    CpuPlayer(const models::Machine& machine, const RankLocations& locations, WaitPolicy wait_policy,
              const CpuProgram& program)
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

    CpuPlayResult run();

 private:
    [[nodiscard]] Process& process(int rank) { return processes_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] const RankLocation& location_of(int rank) const {
        return locations_.of_process[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] bool is_background(int rank) const { return rank >= locations_.ranks(); }
    [[nodiscard]] bool are_inter_node(int a, int b) const { return location_of(a).node != location_of(b).node; }

    void handle(const CpuEvent& event);
    void account(int rank, schedule::Loss loss, Picoseconds until);

    // time slices on a core
    void start(int rank);
    void preempt(int rank);
    void resume(int rank);
    void wake(int rank);
    void block(int rank);

    // actions
    /// From action to action, until one takes time.
    void advance(int rank);
    void next_operation(int rank);
    void begin_kernel(int rank, CpuWork work);
    void begin(int rank, const CpuWork& work);
    void end_work(int rank);
    void wait(int rank);
    void begin_receive(int rank, std::uint32_t message);
    /// A rank that waits sees all that has arrived, also what no receive was posted for.
    void poll(int rank);
    /// The sender waits for one message less.
    void unblock_sender(int sender);

    // messages
    [[nodiscard]] double send_s(int rank, const RankAction& action) const;
    [[nodiscard]] double receive_s(const CpuMessage& m) const;
    void end_send(int rank, const RankAction& action);
    void post_receive(int rank, const RankAction& action);
    /// Rendezvous of a long message between nodes: its receiver learns of it, answers once the receive is posted and it
    /// is in MPI; its sender starts the flow once it has the answer and is in MPI.
    void on_ready_to_send(std::uint32_t message);
    void send_clear_to_send(std::uint32_t message) {
        events_.add(now_ + to_picoseconds(cpu_.inter_node.latency_s), CpuEvent::Kind::kClearToSend, message);
    }
    void answer_ready_to_send(int rank);
    void on_clear_to_send(std::uint32_t message);
    void start_cleared_flows(int rank);
    void start_flow(std::uint32_t message);
    void schedule_arrival(std::uint32_t message);
    void arrive(std::uint32_t message);
    void end_receive(int rank);

    CpuPlayResult finish();

    const models::CpuModel& cpu_;
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

}  // namespace auspex::cpu
