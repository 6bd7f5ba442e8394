#pragma once
/// @file Messages between nodes as flows over NICs, max-min fair.
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "sim/cpu/events.hpp"

namespace auspex::cpu {

/// Flows of one pair of NICs have equal rates. A pair counts the bytes that each of its flows has been served; a flow
/// ends when the pair has served its bytes since it began. A NIC that has been idle for t seconds lets the first
/// min(burst, rate t) bytes of what it sends next pass at once (token bucket).
class NicFlows {
 public:
    NicFlows(int nics, double nic_bytes_per_s, double burst_bytes, CpuEventQueue& events);

    void start(std::uint32_t message, int from_nic, int to_nic, double bytes, Picoseconds now);
    /// The messages whose flows have ended at a kFlowEnd event; none if it is out of date.
    [[nodiscard]] std::vector<std::uint32_t> ended(const CpuEvent& event);
    /// To be called after all events of one time: gives the flows under way their rates.
    void update_rates(Picoseconds now);

 private:
    using VirtualFinish = std::pair<double, std::uint32_t>;  ///< PairFlows::served at which the message has gone
    struct PairFlows {
        double served = 0, rate = 0;  ///< bytes, and bytes/s, of each flow
        Picoseconds since = 0;
        std::uint32_t generation = 0;
        std::priority_queue<VirtualFinish, std::vector<VirtualFinish>, std::greater<>> flows;
    };
    struct TokenBucket {
        double tokens = 0;  ///< bytes that the NIC lets pass at once
        int flows = 0;      ///< that leave the NIC
        Picoseconds idle_since = 0;
    };
    void advance(PairFlows& pair, Picoseconds now) const;
    double take_tokens(int nic, double bytes, Picoseconds now);

    int nics_;
    double burst_bytes_;
    std::vector<TokenBucket> buckets_;
    std::vector<double> capacities_;  ///< out of every NIC, then into every NIC
    std::vector<PairFlows> pairs_;    ///< from * nics + to
    std::vector<std::uint32_t> active_;
    bool changed_ = false;
    CpuEventQueue& events_;
};

}  // namespace auspex::cpu
