/// @file Lanes of flows between NICs.
#include "sim/cpu/host_wires.hpp"

#include <algorithm>
#include <array>

#include "sim/network/sharing/max_min.hpp"

namespace auspex {

HostWires::HostWires(int nics, double nic_bytes_per_s, double burst_bytes, HostEvents& events)
    : nics_(nics),
      burst_bytes_(burst_bytes),
      buckets_(static_cast<std::size_t>(nics), {.tokens = burst_bytes}),
      capacities_(2 * static_cast<std::size_t>(nics), nic_bytes_per_s),
      lanes_(static_cast<std::size_t>(nics) * static_cast<std::size_t>(nics)),
      events_(events) {}

void HostWires::advance(Lane& lane, Picoseconds now) const {
    lane.served += lane.rate * to_seconds(now - lane.since);
    lane.since = now;
}

double HostWires::take_tokens(int nic, double bytes, Picoseconds now) {
    Bucket& bucket = buckets_[static_cast<std::size_t>(nic)];
    if (bucket.flows == 0) {
        const double rested = to_seconds(now - bucket.rests_since) * capacities_[static_cast<std::size_t>(nic)];
        bucket.tokens = std::min(burst_bytes_, bucket.tokens + rested);
    }
    const double taken = std::min(bucket.tokens, bytes);
    bucket.tokens -= taken;
    ++bucket.flows;
    return taken;
}

void HostWires::start(std::uint32_t message, int from_nic, int to_nic, double bytes, Picoseconds now) {
    const auto index = static_cast<std::uint32_t>(from_nic * nics_ + to_nic);
    Lane& lane = lanes_[index];
    if (lane.flows.empty()) {
        lane.served = lane.rate = 0;
        active_.push_back(index);
    }
    advance(lane, now);
    lane.flows.emplace(lane.served + bytes - take_tokens(from_nic, bytes, now), message);
    changed_ = true;
}

std::vector<std::uint32_t> HostWires::ended(const HostEvent& event) {
    constexpr double kRounding = 1e-9;
    std::vector<std::uint32_t> messages;
    Lane& lane = lanes_[event.index];
    if (event.stamp != lane.stamp || lane.flows.empty()) {
        return messages;
    }
    advance(lane, event.time);
    const double served = std::max(lane.served, lane.flows.top().first) * (1 + kRounding);
    while (!lane.flows.empty() && lane.flows.top().first <= served) {
        messages.push_back(lane.flows.top().second);
        lane.flows.pop();
        Bucket& bucket = buckets_[event.index / static_cast<std::uint32_t>(nics_)];
        --bucket.flows;
        bucket.rests_since = event.time;
    }
    if (lane.flows.empty()) {
        active_.erase(std::find(active_.begin(), active_.end(), event.index));
    }
    changed_ = true;
    return messages;
}

void HostWires::settle(Picoseconds now) {
    if (!changed_) {
        return;
    }
    changed_ = false;
    std::vector<std::array<LinkLoad, 2>> loads;
    for (const std::uint32_t index : active_) {
        const auto nics = static_cast<std::uint32_t>(nics_);
        const auto flows = static_cast<double>(lanes_[index].flows.size());
        loads.push_back({LinkLoad{index / nics, flows}, LinkLoad{nics + index % nics, flows}});
    }
    const std::vector<LoadList> classes(loads.begin(), loads.end());
    const std::vector<double> rates = max_min_rates(capacities_, classes);
    for (std::size_t i = 0; i < active_.size(); ++i) {
        Lane& lane = lanes_[active_[i]];
        advance(lane, now);
        lane.rate = rates[i];
        const double left = std::max(0.0, lane.flows.top().first - lane.served);
        events_.add(now + to_picoseconds_up(left / lane.rate), HostEvent::Kind::kFlowEnd, active_[i], ++lane.stamp);
    }
}

}  // namespace auspex
