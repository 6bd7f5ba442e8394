/// @file Turns of ranks on cores.
#include "sim/cpu/host_turns.hpp"

#include "base/error.hpp"

namespace auspex {

HostTurns::HostTurns(const Host& host, const HostPlaces& places, HostManners manners, HostEvents& events)
    : host_(host),
      places_(places),
      manners_(manners),
      cores_(static_cast<std::size_t>(places.computers * host.cores)),
      core_of_rank_(places.of_rank.size(), -1),
      events_(events) {
    const std::size_t width = manners.bound ? 1 : static_cast<std::size_t>(host.cores);
    for (std::size_t core = 0; core < cores_.size(); core += width) {
        Pool& pool = pools_.emplace_back();
        pool.first_core = core;
        pool.cores = width;
    }
}

HostTurns::Pool& HostTurns::pool_of(int rank) {
    const HostPlace& place = places_.of_rank[static_cast<std::size_t>(rank)];
    return pools_[static_cast<std::size_t>(manners_.bound ? place.computer * host_.cores + place.core
                                                          : place.computer)];
}

HostTurns::Core* HostTurns::idle_core(const Pool& pool) {
    for (std::size_t core = pool.first_core; core < pool.first_core + pool.cores; ++core) {
        if (cores_[core].rank < 0) {
            return &cores_[core];
        }
    }
    return nullptr;
}

double HostTurns::notice_s(const Pool& pool) const {
    if (!manners_.yields) {
        return 0;
    }
    const double looking = static_cast<double>(pool.waiting) / static_cast<double>(pool.cores);
    return continuous() || looking <= 1 ? host_.poll_s / 2 : looking * (host_.poll_s + host_.switch_s) / 2;
}

double HostTurns::change_s(const Pool& pool) const {
    const double looking = manners_.yields ? static_cast<double>(pool.waiting) / static_cast<double>(pool.cores) : 0;
    const auto ready = static_cast<double>(pool.queue.size());
    return host_.switch_s + looking / (ready + 1) * (host_.poll_s + host_.switch_s);
}

void HostTurns::occupy(Core& core, int rank, Picoseconds start) {
    core.rank = rank;
    core.runs = core.slice_set = false;
    ++core.stamp;
    core_of_rank_[static_cast<std::size_t>(rank)] = &core - cores_.data();
    events_.add(start, HostEvent::Kind::kStart, static_cast<std::uint32_t>(rank));
}

/// The end of the slice that `now` lies in.
void HostTurns::set_slice(Core& core, Picoseconds now) {
    if (core.runs && !core.slice_set) {
        const Picoseconds slice = to_picoseconds(host_.core_slice_s);
        const Picoseconds slices = (now - core.turn_began) / slice + 1;
        core.slice_set = true;
        events_.add(core.turn_began + slices * slice, HostEvent::Kind::kSlice,
                    static_cast<std::uint32_t>(&core - cores_.data()), ++core.stamp);
    }
}

void HostTurns::queue(Pool& pool, int rank, Picoseconds now) {
    pool.queue.push_back(rank);
    for (std::size_t core = pool.first_core; core < pool.first_core + pool.cores; ++core) {
        set_slice(cores_[core], now);
    }
}

void HostTurns::free_core(Pool& pool, Core& core, Picoseconds now) {
    core.rank = -1;
    core.runs = core.slice_set = false;
    ++core.stamp;
    if (!pool.queue.empty()) {
        const Picoseconds start = now + to_picoseconds(change_s(pool));
        const int next = pool.queue.front();
        pool.queue.pop_front();
        occupy(core, next, start);
    }
}

void HostTurns::enter(int rank, Picoseconds now) {
    if (continuous()) {
        events_.add(now, HostEvent::Kind::kStart, static_cast<std::uint32_t>(rank));
        return;
    }
    Pool& pool = pool_of(rank);
    if (Core* const core = idle_core(pool)) {
        occupy(*core, rank, now);
    } else {
        queue(pool, rank, now);
    }
}

bool HostTurns::wake(int rank, Picoseconds now) {
    Pool& pool = pool_of(rank);
    const Picoseconds noticed = now + to_picoseconds(notice_s(pool));
    --pool.waiting;
    if (continuous()) {
        events_.add(noticed, HostEvent::Kind::kStart, static_cast<std::uint32_t>(rank));
        return true;
    }
    if (Core* const core = idle_core(pool)) {
        occupy(*core, rank, noticed);
        return true;
    }
    queue(pool, rank, now);
    return false;
}

void HostTurns::wait(int rank, Picoseconds now) {
    Pool& pool = pool_of(rank);
    if (!continuous()) {
        free_core(pool, core_of(rank), now);
    }
    ++pool.waiting;
}

void HostTurns::end(int rank, Picoseconds now) {
    if (!continuous()) {
        free_core(pool_of(rank), core_of(rank), now);
    }
}

void HostTurns::started(int rank, Picoseconds now) {
    if (continuous()) {
        return;
    }
    Core& core = core_of(rank);
    AUSPEX_CHECK(core.rank == rank, "a rank starts on the core that it was given");
    core.runs = true;
    core.turn_began = now;
    if (!pool_of(rank).queue.empty()) {
        set_slice(core, now);
    }
}

int HostTurns::preempted(const HostEvent& event) {
    Core& core = cores_[event.index];
    if (event.stamp != core.stamp || core.rank < 0) {
        return -1;
    }
    core.slice_set = false;
    const int rank = core.rank;
    Pool& pool = pool_of(rank);
    if (pool.queue.empty()) {
        return -1;
    }
    free_core(pool, core, event.time);
    pool.queue.push_back(rank);
    return rank;
}

}  // namespace auspex
