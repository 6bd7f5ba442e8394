/// @file Rates of work on shared cores, cache and memory.
#include "sim/cpu/contention.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "sim/network/sharing/max_min.hpp"

namespace auspex::cpu {

CpuContention::CpuContention(const models::CpuModel& cpu, const RankLocations& locations, bool bound,
                             CpuEventQueue& events)
    : cpu_(cpu),
      locations_(locations),
      bound_(bound),
      running_(locations.of_process.size()),
      computers_(static_cast<std::size_t>(locations.computers)),
      events_(events) {}

void CpuContention::enter(int rank) {
    Computer& computer = computer_of(rank);
    computer.running.push_back(rank);
    computer.changed = true;
}

void CpuContention::start(int rank, const CpuWork& work, Picoseconds now) {
    Running& r = running(rank);
    AUSPEX_CHECK(!r.is_computing && !r.is_spinning && work.seconds > 0, "a rank does one thing at a time");
    r.work = work;
    r.remaining_s = work.seconds;
    r.cache_bytes_per_s = std::min(work.cache_bytes / work.seconds, cpu_.cache_bytes_per_s);
    r.memory_bytes_per_s = std::min(work.memory_bytes / work.seconds, cpu_.memory_bytes_per_s);
    r.rate = -1;
    r.since = now;
    r.is_computing = true;
    enter(rank);
}

void CpuContention::spin(int rank, Picoseconds now) {
    Running& r = running(rank);
    r.rate = -1;
    r.cache_bytes_per_s = r.memory_bytes_per_s = 0;
    r.since = now;
    r.is_spinning = true;
    enter(rank);
}

CpuWork CpuContention::stop(int rank, Picoseconds now) {
    Running& r = running(rank);
    advance(r, now);
    CpuWork rest;
    if (r.is_computing && r.remaining_s > 0) {
        const double share = r.remaining_s / r.work.seconds;
        rest = {r.remaining_s, r.work.cache_bytes * share, r.work.memory_bytes * share};
    }
    if (r.is_computing || r.is_spinning) {
        Computer& computer = computer_of(rank);
        computer.running.erase(std::find(computer.running.begin(), computer.running.end(), rank));
        computer.changed = true;
    }
    r.is_computing = r.is_spinning = false;
    ++r.generation;
    return rest;
}

bool CpuContention::has_ended(const CpuEvent& event) const {
    const Running& r = running_[event.index];
    return r.is_computing && r.generation == event.generation;
}

void CpuContention::advance(Running& r, Picoseconds now) const {
    r.remaining_s -= std::max(0.0, r.rate) * to_seconds(now - r.since);
    r.since = now;
}

double CpuContention::core_speed(const Computer& computer) const {
    std::vector<char> busy(static_cast<std::size_t>(cpu_.cores), 0);
    std::ptrdiff_t working = 0;
    for (const int rank : computer.running) {
        const auto r = static_cast<std::size_t>(rank);
        if (running_[r].is_computing) {
            ++working;
            busy[static_cast<std::size_t>(locations_.of_process[r].core)] = 1;
        }
    }
    const std::ptrdiff_t cores = bound_ ? std::count(busy.begin(), busy.end(), 1) : working;
    return cores >= cpu_.cores ? cpu_.busy_speed : 1;
}

std::vector<double> CpuContention::rates(const Computer& computer) const {
    const double speed = core_speed(computer);
    const auto cores = static_cast<std::uint32_t>(cpu_.cores);
    const std::uint32_t all = cores, cache = cores + 1, memory = cores + 2, own = cores + 3;
    std::vector<double> capacities(own + computer.running.size(), speed);
    capacities[all] = speed * cpu_.cores;
    capacities[cache] = cpu_.cache_bytes_per_s;
    capacities[memory] = cpu_.memory_bytes_per_s;
    std::vector<std::vector<network::LinkLoad>> loads;
    for (std::uint32_t i = 0; i < computer.running.size(); ++i) {
        const auto rank = static_cast<std::size_t>(computer.running[i]);
        const Running& r = running_[rank];
        std::vector<network::LinkLoad>& on = loads.emplace_back();
        if (bound_) {
            on.push_back({static_cast<std::uint32_t>(locations_.of_process[rank].core), 1});
        } else {
            on.push_back({all, 1});
            on.push_back({own + i, 1});
        }
        if (r.cache_bytes_per_s > 0) {
            on.push_back({cache, r.cache_bytes_per_s});
        }
        if (r.memory_bytes_per_s > 0) {
            on.push_back({memory, r.memory_bytes_per_s});
        }
    }
    return max_min_rates(capacities, std::vector<network::LoadList>(loads.begin(), loads.end()));
}

void CpuContention::update_rates(Computer& computer, Picoseconds now) {
    computer.changed = false;
    const std::vector<double> rate = rates(computer);
    for (std::size_t i = 0; i < computer.running.size(); ++i) {
        Running& r = running(computer.running[i]);
        if (r.rate == rate[i]) {
            continue;
        }
        advance(r, now);
        r.rate = rate[i];
        if (r.is_computing) {
            events_.add(now + to_picoseconds_up(std::max(0.0, r.remaining_s) / r.rate), CpuEvent::Kind::kWorkEnd,
                        static_cast<std::uint32_t>(computer.running[i]), ++r.generation);
        }
    }
}

void CpuContention::update_rates(Picoseconds now) {
    for (Computer& computer : computers_) {
        if (computer.changed) {
            update_rates(computer, now);
        }
    }
}

}  // namespace auspex::cpu
