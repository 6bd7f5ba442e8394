#pragma once
/// @file Rates of patterns that start and stop: recomputed for those that a change can affect, cached by the network.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/collective/network.hpp"

namespace auspex::network {

/// Active patterns form components that cannot slow one another; a change asks for the rates of the components it
/// touches, and the network solves each component once.
class PatternSharing {
 public:
    explicit PatternSharing(Network& network) : network_(network) {}

    [[nodiscard]] std::uint32_t start(PatternId pattern);  ///< numbers of ended flows are reused
    void stop(std::uint32_t flow);
    /// After any number of starts and stops: the flows whose rates have changed (all that have started, too).
    [[nodiscard]] std::span<const std::uint32_t> update_rates();
    [[nodiscard]] double rate(std::uint32_t flow) const { return flows_[flow].rate; }

 private:
    struct Flow {
        PatternId pattern = 0;
        double rate = 0;
        bool alive = false;
        std::uint32_t mark = 0;
    };
    void update_component_of(std::uint32_t flow);

    Network& network_;
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> free_, changed_, component_;
    std::vector<PatternId> touched_, patterns_;
    std::uint32_t mark_ = 0;
};

}  // namespace auspex::network
