/// @file Time slices of ranks on cores.
#include "sim/cpu/scheduler.hpp"

#include "base/error.hpp"

namespace auspex::cpu {

CpuScheduler::CpuScheduler(const models::CpuModel& cpu, const RankLocations& locations, WaitPolicy wait_policy,
                           CpuEventQueue& events)
    : cpu_(cpu),
      locations_(locations),
      wait_policy_(wait_policy),
      cores_(static_cast<std::size_t>(locations.computers * cpu.cores)),
      core_of_rank_(locations.of_process.size(), -1),
      events_(events) {
    const std::size_t width = wait_policy.bound ? 1 : static_cast<std::size_t>(cpu.cores);
    for (std::size_t core = 0; core < cores_.size(); core += width) {
        RunQueue& run_queue = run_queues_.emplace_back();
        run_queue.first_core = core;
        run_queue.cores = width;
    }
}

CpuScheduler::RunQueue& CpuScheduler::run_queue_of(int rank) {
    const RankLocation& location = locations_.of_process[static_cast<std::size_t>(rank)];
    return run_queues_[static_cast<std::size_t>(wait_policy_.bound ? location.computer * cpu_.cores + location.core
                                                                   : location.computer)];
}

CpuScheduler::Core* CpuScheduler::idle_core(const RunQueue& run_queue) {
    for (std::size_t core = run_queue.first_core; core < run_queue.first_core + run_queue.cores; ++core) {
        if (cores_[core].rank < 0) {
            return &cores_[core];
        }
    }
    return nullptr;
}

double CpuScheduler::wakeup_latency_s(const RunQueue& run_queue) const {
    if (!wait_policy_.yields) {
        return 0;
    }
    const double polling = static_cast<double>(run_queue.blocked) / static_cast<double>(run_queue.cores);
    return is_processor_sharing() || polling <= 1 ? cpu_.poll_s / 2
                                                  : polling * (cpu_.poll_s + cpu_.context_switch_s) / 2;
}

double CpuScheduler::switch_cost_s(const RunQueue& run_queue) const {
    const double polling =
        wait_policy_.yields ? static_cast<double>(run_queue.blocked) / static_cast<double>(run_queue.cores) : 0;
    const auto ready = static_cast<double>(run_queue.ready.size());
    return cpu_.context_switch_s + polling / (ready + 1) * (cpu_.poll_s + cpu_.context_switch_s);
}

void CpuScheduler::assign(Core& core, int rank, Picoseconds start) {
    core.rank = rank;
    core.is_running = core.has_quantum = false;
    ++core.generation;
    core_of_rank_[static_cast<std::size_t>(rank)] = &core - cores_.data();
    events_.add(start, CpuEvent::Kind::kDispatch, static_cast<std::uint32_t>(rank));
}

/// Schedules the end of the time slice that `now` lies in.
void CpuScheduler::set_quantum(Core& core, Picoseconds now) {
    if (core.is_running && !core.has_quantum) {
        const Picoseconds slice = to_picoseconds(cpu_.quantum_s);
        const Picoseconds slices = (now - core.dispatched_at) / slice + 1;
        core.has_quantum = true;
        events_.add(core.dispatched_at + slices * slice, CpuEvent::Kind::kQuantumEnd,
                    static_cast<std::uint32_t>(&core - cores_.data()), ++core.generation);
    }
}

void CpuScheduler::enqueue(RunQueue& run_queue, int rank, Picoseconds now) {
    run_queue.ready.push_back(rank);
    for (std::size_t core = run_queue.first_core; core < run_queue.first_core + run_queue.cores; ++core) {
        set_quantum(cores_[core], now);
    }
}

void CpuScheduler::release_core(RunQueue& run_queue, Core& core, Picoseconds now) {
    core.rank = -1;
    core.is_running = core.has_quantum = false;
    ++core.generation;
    if (!run_queue.ready.empty()) {
        const Picoseconds start = now + to_picoseconds(switch_cost_s(run_queue));
        const int next = run_queue.ready.front();
        run_queue.ready.pop_front();
        assign(core, next, start);
    }
}

void CpuScheduler::admit(int rank, Picoseconds now) {
    if (is_processor_sharing()) {
        events_.add(now, CpuEvent::Kind::kDispatch, static_cast<std::uint32_t>(rank));
        return;
    }
    RunQueue& run_queue = run_queue_of(rank);
    if (Core* const core = idle_core(run_queue)) {
        assign(*core, rank, now);
    } else {
        enqueue(run_queue, rank, now);
    }
}

bool CpuScheduler::wake(int rank, Picoseconds now) {
    RunQueue& run_queue = run_queue_of(rank);
    const Picoseconds noticed = now + to_picoseconds(wakeup_latency_s(run_queue));
    --run_queue.blocked;
    if (is_processor_sharing()) {
        events_.add(noticed, CpuEvent::Kind::kDispatch, static_cast<std::uint32_t>(rank));
        return true;
    }
    if (Core* const core = idle_core(run_queue)) {
        assign(*core, rank, noticed);
        return true;
    }
    enqueue(run_queue, rank, now);
    return false;
}

void CpuScheduler::block(int rank, Picoseconds now) {
    RunQueue& run_queue = run_queue_of(rank);
    if (!is_processor_sharing()) {
        release_core(run_queue, core_of(rank), now);
    }
    ++run_queue.blocked;
}

void CpuScheduler::exit(int rank, Picoseconds now) {
    if (!is_processor_sharing()) {
        release_core(run_queue_of(rank), core_of(rank), now);
    }
}

void CpuScheduler::dispatched(int rank, Picoseconds now) {
    if (is_processor_sharing()) {
        return;
    }
    Core& core = core_of(rank);
    AUSPEX_CHECK(core.rank == rank, "a rank starts on the core that it was given");
    core.is_running = true;
    core.dispatched_at = now;
    if (!run_queue_of(rank).ready.empty()) {
        set_quantum(core, now);
    }
}

int CpuScheduler::preempted(const CpuEvent& event) {
    Core& core = cores_[event.index];
    if (event.generation != core.generation || core.rank < 0) {
        return -1;
    }
    core.has_quantum = false;
    const int rank = core.rank;
    RunQueue& run_queue = run_queue_of(rank);
    if (run_queue.ready.empty()) {
        return -1;
    }
    release_core(run_queue, core, event.time);
    run_queue.ready.push_back(rank);
    return rank;
}

}  // namespace auspex::cpu
