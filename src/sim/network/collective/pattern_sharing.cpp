/// @file Companies by breadth-first search over who can slow whom.
#include "sim/network/collective/pattern_sharing.hpp"

#include <algorithm>

namespace auspex::network {

std::uint32_t PatternSharing::start(PatternId pattern) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(flows_.size()));
        flows_.emplace_back();
    }
    const std::uint32_t flow = free_.back();
    free_.pop_back();
    flows_[flow] = {pattern, 0, true, mark_};
    touched_.push_back(pattern);
    return flow;
}

void PatternSharing::stop(std::uint32_t flow) {
    flows_[flow].alive = false;
    free_.push_back(flow);
    touched_.push_back(flows_[flow].pattern);
}

std::span<const std::uint32_t> PatternSharing::update_rates() {
    ++mark_;
    changed_.clear();
    for (const PatternId touched : touched_) {
        for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
            if (flows_[flow].alive && flows_[flow].mark != mark_ && network_.can_slow(touched, flows_[flow].pattern)) {
                update_component_of(flow);
            }
        }
    }
    touched_.clear();
    return changed_;
}

void PatternSharing::update_component_of(std::uint32_t flow) {
    component_.assign(1, flow);
    flows_[flow].mark = mark_;
    for (std::size_t next = 0; next < component_.size(); ++next) {
        const PatternId pattern = flows_[component_[next]].pattern;
        for (std::uint32_t other = 0; other < flows_.size(); ++other) {
            if (flows_[other].alive && flows_[other].mark != mark_ &&
                network_.can_slow(pattern, flows_[other].pattern)) {
                flows_[other].mark = mark_;
                component_.push_back(other);
            }
        }
    }
    patterns_.clear();
    for (const std::uint32_t member : component_) {
        patterns_.push_back(flows_[member].pattern);
    }
    const std::span<const double> rates = network_.rates(patterns_);
    for (std::size_t i = 0; i < component_.size(); ++i) {
        Flow& member = flows_[component_[i]];
        if (member.rate != rates[i]) {
            member.rate = rates[i];
            changed_.push_back(component_[i]);
        }
    }
}

}  // namespace auspex::network
