/// @file Flows between pairs of NICs.
#include "sim/cpu/nic_flows.hpp"

#include <algorithm>
#include <array>

#include "sim/network/sharing/max_min.hpp"

namespace auspex::cpu {

NicFlows::NicFlows(int nics, double nic_bytes_per_s, double burst_bytes, CpuEventQueue& events)
    : nics_(nics),
      burst_bytes_(burst_bytes),
      buckets_(static_cast<std::size_t>(nics), {.tokens = burst_bytes}),
      capacities_(2 * static_cast<std::size_t>(nics), nic_bytes_per_s),
      pairs_(static_cast<std::size_t>(nics) * static_cast<std::size_t>(nics)),
      events_(events) {}

void NicFlows::advance(PairFlows& pair, Picoseconds now) const {
    pair.served += pair.rate * to_seconds(now - pair.since);
    pair.since = now;
}

double NicFlows::take_tokens(int nic, double bytes, Picoseconds now) {
    TokenBucket& bucket = buckets_[static_cast<std::size_t>(nic)];
    if (bucket.flows == 0) {
        const double refill = to_seconds(now - bucket.idle_since) * capacities_[static_cast<std::size_t>(nic)];
        bucket.tokens = std::min(burst_bytes_, bucket.tokens + refill);
    }
    const double taken = std::min(bucket.tokens, bytes);
    bucket.tokens -= taken;
    ++bucket.flows;
    return taken;
}

void NicFlows::start(std::uint32_t message, int from_nic, int to_nic, double bytes, Picoseconds now) {
    const auto index = static_cast<std::uint32_t>(from_nic * nics_ + to_nic);
    PairFlows& pair = pairs_[index];
    if (pair.flows.empty()) {
        pair.served = pair.rate = 0;
        active_.push_back(index);
    }
    advance(pair, now);
    pair.flows.emplace(pair.served + bytes - take_tokens(from_nic, bytes, now), message);
    changed_ = true;
}

std::vector<std::uint32_t> NicFlows::ended(const CpuEvent& event) {
    std::vector<std::uint32_t> messages;
    PairFlows& pair = pairs_[event.index];
    if (event.generation != pair.generation || pair.flows.empty()) {
        return messages;
    }
    advance(pair, event.time);
    const double served = std::max(pair.served, pair.flows.top().first) * (1 + network::kRateRounding);
    while (!pair.flows.empty() && pair.flows.top().first <= served) {
        messages.push_back(pair.flows.top().second);
        pair.flows.pop();
        TokenBucket& bucket = buckets_[event.index / static_cast<std::uint32_t>(nics_)];
        --bucket.flows;
        bucket.idle_since = event.time;
    }
    if (pair.flows.empty()) {
        active_.erase(std::find(active_.begin(), active_.end(), event.index));
    }
    changed_ = true;
    return messages;
}

void NicFlows::update_rates(Picoseconds now) {
    if (!changed_) {
        return;
    }
    changed_ = false;
    std::vector<std::array<network::LinkLoad, 2>> loads;
    for (const std::uint32_t index : active_) {
        const auto nics = static_cast<std::uint32_t>(nics_);
        const auto flows = static_cast<double>(pairs_[index].flows.size());
        loads.push_back({network::LinkLoad{index / nics, flows}, network::LinkLoad{nics + index % nics, flows}});
    }
    const std::vector<network::LoadList> classes(loads.begin(), loads.end());
    const std::vector<double> rates = max_min_rates(capacities_, classes);
    for (std::size_t i = 0; i < active_.size(); ++i) {
        PairFlows& pair = pairs_[active_[i]];
        advance(pair, now);
        pair.rate = rates[i];
        const double left = std::max(0.0, pair.flows.top().first - pair.served);
        events_.add(now + to_picoseconds_up(left / pair.rate), CpuEvent::Kind::kFlowEnd, active_[i], ++pair.generation);
    }
}

}  // namespace auspex::cpu
