/// @file Rates of work on shared cores, cache and memory.
#include "sim/cpu/host_speeds.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "sim/network/sharing/max_min.hpp"

namespace auspex {

HostSpeeds::HostSpeeds(const Host& host, const HostPlaces& places, bool bound, HostEvents& events)
    : host_(host),
      places_(places),
      bound_(bound),
      running_(places.of_rank.size()),
      computers_(static_cast<std::size_t>(places.computers)),
      events_(events) {}

void HostSpeeds::enter(int rank) {
    Computer& computer = computer_of(rank);
    computer.running.push_back(rank);
    computer.changed = true;
}

void HostSpeeds::start(int rank, const HostWork& work, Picoseconds now) {
    Running& r = running(rank);
    AUSPEX_CHECK(!r.works && !r.spins && work.seconds > 0, "a rank does one thing at a time");
    r.alone = work;
    r.left = work.seconds;
    r.cache = std::min(work.cache_bytes / work.seconds, host_.cache_bytes_per_s);
    r.memory = std::min(work.memory_bytes / work.seconds, host_.memory_bytes_per_s);
    r.rate = -1;
    r.since = now;
    r.works = true;
    enter(rank);
}

void HostSpeeds::spin(int rank, Picoseconds now) {
    Running& r = running(rank);
    r.rate = -1;
    r.cache = r.memory = 0;
    r.since = now;
    r.spins = true;
    enter(rank);
}

HostWork HostSpeeds::stop(int rank, Picoseconds now) {
    Running& r = running(rank);
    advance(r, now);
    HostWork rest;
    if (r.works && r.left > 0) {
        const double share = r.left / r.alone.seconds;
        rest = {r.left, r.alone.cache_bytes * share, r.alone.memory_bytes * share};
    }
    if (r.works || r.spins) {
        Computer& computer = computer_of(rank);
        computer.running.erase(std::find(computer.running.begin(), computer.running.end(), rank));
        computer.changed = true;
    }
    r.works = r.spins = false;
    ++r.stamp;
    return rest;
}

bool HostSpeeds::has_ended(const HostEvent& event) const {
    const Running& r = running_[event.index];
    return r.works && r.stamp == event.stamp;
}

void HostSpeeds::advance(Running& r, Picoseconds now) const {
    r.left -= std::max(0.0, r.rate) * to_seconds(now - r.since);
    r.since = now;
}

double HostSpeeds::core_speed(const Computer& computer) const {
    std::vector<char> busy(static_cast<std::size_t>(host_.cores), 0);
    std::ptrdiff_t working = 0;
    for (const int rank : computer.running) {
        const auto r = static_cast<std::size_t>(rank);
        if (running_[r].works) {
            ++working;
            busy[static_cast<std::size_t>(places_.of_rank[r].core)] = 1;
        }
    }
    const std::ptrdiff_t cores = bound_ ? std::count(busy.begin(), busy.end(), 1) : working;
    return cores >= host_.cores ? host_.busy_speed : 1;
}

std::vector<double> HostSpeeds::rates(const Computer& computer) const {
    const double speed = core_speed(computer);
    const auto cores = static_cast<std::uint32_t>(host_.cores);
    const std::uint32_t all = cores, cache = cores + 1, memory = cores + 2, own = cores + 3;
    std::vector<double> capacities(own + computer.running.size(), speed);
    capacities[all] = speed * host_.cores;
    capacities[cache] = host_.cache_bytes_per_s;
    capacities[memory] = host_.memory_bytes_per_s;
    std::vector<std::vector<LinkLoad>> loads;
    for (std::uint32_t i = 0; i < computer.running.size(); ++i) {
        const auto rank = static_cast<std::size_t>(computer.running[i]);
        const Running& r = running_[rank];
        std::vector<LinkLoad>& on = loads.emplace_back();
        if (bound_) {
            on.push_back({static_cast<std::uint32_t>(places_.of_rank[rank].core), 1});
        } else {
            on.push_back({all, 1});
            on.push_back({own + i, 1});
        }
        if (r.cache > 0) {
            on.push_back({cache, r.cache});
        }
        if (r.memory > 0) {
            on.push_back({memory, r.memory});
        }
    }
    return max_min_rates(capacities, std::vector<LoadList>(loads.begin(), loads.end()));
}

void HostSpeeds::settle(Computer& computer, Picoseconds now) {
    computer.changed = false;
    const std::vector<double> rate = rates(computer);
    for (std::size_t i = 0; i < computer.running.size(); ++i) {
        Running& r = running(computer.running[i]);
        if (r.rate == rate[i]) {
            continue;
        }
        advance(r, now);
        r.rate = rate[i];
        if (r.works) {
            events_.add(now + to_picoseconds_up(std::max(0.0, r.left) / r.rate), HostEvent::Kind::kWorkEnd,
                        static_cast<std::uint32_t>(computer.running[i]), ++r.stamp);
        }
    }
}

void HostSpeeds::settle(Picoseconds now) {
    for (Computer& computer : computers_) {
        if (computer.changed) {
            settle(computer, now);
        }
    }
}

}  // namespace auspex
