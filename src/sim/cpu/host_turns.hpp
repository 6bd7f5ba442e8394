#pragma once
/// @file Who has a core: queues of ranks that can run, in turns of a slice.
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/cpu/host_events.hpp"
#include "sim/cpu/host_places.hpp"

namespace auspex {

/// How ranks wait and are bound (of the stack).
struct HostManners {
    bool yields = true;  ///< a waiting rank gives its core away; false: it keeps its turns
    bool bound = true;   ///< to one core; false: a computer's ranks share all of its cores
};

/// A core runs one rank until that gives it up or, where another can run, until the end of its slice; slices follow one
/// another from the start of its turn. The next of the queue starts after host.switch_s and, for each rank of the core
/// that waits by yielding and has its turn before, poll_s + switch_s: of w that wait and r that can run, in any order,
/// w / (r + 1). A rank of an idle core sees its message
/// after half a round of those that look for theirs: poll_s / 2 if it is alone, else (poll_s + switch_s) / 2 for each
/// of them. With core_slice_s = 0 there are no turns: each starts after poll_s / 2.
class HostTurns {
 public:
    HostTurns(const Host& host, const HostPlaces& places, HostManners manners, HostEvents& events);

    /// At the start of a step: the rank can run, and nobody has to look for it.
    void enter(int rank, Picoseconds now);
    /// A rank that waited can go on. True if it starts by itself (kStart follows without a turn of another).
    bool wake(int rank, Picoseconds now);
    /// A running rank waits.
    void wait(int rank, Picoseconds now);
    /// A running rank has ended.
    void end(int rank, Picoseconds now);
    /// A kStart event: the rank runs.
    void started(int rank, Picoseconds now);
    /// The rank that a kSlice event sends to the end of its queue; -1: none.
    int preempted(const HostEvent& event);

 private:
    struct Core {
        int rank = -1;
        Picoseconds turn_began = 0;
        bool runs = false;  ///< its rank has started
        bool slice_set = false;
        std::uint32_t stamp = 0;
    };
    /// Ranks that share cores.
    struct Pool {
        std::deque<int> queue;
        std::size_t first_core = 0, cores = 1;
        int waiting = 0;
    };
    [[nodiscard]] bool continuous() const { return host_.core_slice_s == 0; }
    Pool& pool_of(int rank);
    Core* idle_core(const Pool& pool);
    Core& core_of(int rank) { return cores_[static_cast<std::size_t>(core_of_rank_[static_cast<std::size_t>(rank)])]; }
    void occupy(Core& core, int rank, Picoseconds start);
    void queue(Pool& pool, int rank, Picoseconds now);
    void free_core(Pool& pool, Core& core, Picoseconds now);
    void set_slice(Core& core, Picoseconds now);
    [[nodiscard]] double notice_s(const Pool& pool) const;
    [[nodiscard]] double change_s(const Pool& pool) const;

    const Host& host_;
    const HostPlaces& places_;
    HostManners manners_;
    std::vector<Core> cores_;
    std::vector<Pool> pools_;  ///< one a core, or unbound one a computer
    std::vector<std::ptrdiff_t> core_of_rank_;
    HostEvents& events_;
};

}  // namespace auspex
