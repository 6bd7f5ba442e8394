#pragma once
/// @file Which rank has a core: run queues, round-robin with a time slice (quantum).
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/cpu/events.hpp"
#include "sim/cpu/rank_locations.hpp"

namespace auspex::cpu {

/// How ranks wait and are bound (of the stack).
struct WaitPolicy {
    bool yields = true;  ///< a waiting rank yields its core; false: it spins for its time slices
    bool bound = true;   ///< to one core; false: a computer's ranks share all of its cores
};

/// A core runs one rank until that yields it or, where another rank can run, until the end of its time slice
/// (host.quantum_s, counted from when the rank got the core). The next rank of the queue starts after context_switch_s
/// and, for each rank of the core that waits by yielding and polls in between, poll_s + context_switch_s; of w ranks
/// that wait and r that can run these are w / (r + 1) on average. On an idle core a rank sees its message after half a
/// round of the w ranks that poll: poll_s / 2 for w = 1, else w (poll_s + context_switch_s) / 2. With quantum_s = 0
/// (processor sharing) there are no time slices: each rank starts after poll_s / 2.
class CpuScheduler {
 public:
    CpuScheduler(const models::CpuModel& cpu, const RankLocations& locations, WaitPolicy wait_policy,
                 CpuEventQueue& events);

    /// At the start of a step: the rank can run; no polling delays it.
    void admit(int rank, Picoseconds now);
    /// A rank that waited can go on. True if a core is idle for it (kDispatch follows, no other rank runs before).
    bool wake(int rank, Picoseconds now);
    /// A running rank waits.
    void block(int rank, Picoseconds now);
    /// A running rank has ended.
    void exit(int rank, Picoseconds now);
    /// At a kDispatch event: the rank runs.
    void dispatched(int rank, Picoseconds now);
    /// The rank that a kQuantumEnd event sends to the end of its queue; -1: none.
    int preempted(const CpuEvent& event);

 private:
    struct Core {
        int rank = -1;
        Picoseconds dispatched_at = 0;
        bool is_running = false;  ///< its rank has started
        bool has_quantum = false;
        std::uint32_t generation = 0;
    };
    /// Ranks that share cores.
    struct RunQueue {
        std::deque<int> ready;
        std::size_t first_core = 0, cores = 1;
        int blocked = 0;
    };
    [[nodiscard]] bool is_processor_sharing() const { return cpu_.quantum_s == 0; }
    RunQueue& run_queue_of(int rank);
    Core* idle_core(const RunQueue& run_queue);
    Core& core_of(int rank) { return cores_[static_cast<std::size_t>(core_of_rank_[static_cast<std::size_t>(rank)])]; }
    void assign(Core& core, int rank, Picoseconds start);
    void enqueue(RunQueue& run_queue, int rank, Picoseconds now);
    void release_core(RunQueue& run_queue, Core& core, Picoseconds now);
    void set_quantum(Core& core, Picoseconds now);
    [[nodiscard]] double wakeup_latency_s(const RunQueue& run_queue) const;
    [[nodiscard]] double switch_cost_s(const RunQueue& run_queue) const;

    const models::CpuModel& cpu_;
    const RankLocations& locations_;
    WaitPolicy wait_policy_;
    std::vector<Core> cores_;
    std::vector<RunQueue> run_queues_;  ///< one a core, or unbound one a computer
    std::vector<std::ptrdiff_t> core_of_rank_;
    CpuEventQueue& events_;
};

}  // namespace auspex::cpu
