/// @file A map from what decides the interval to it.
#include "cli/campaigns/shared_intervals.hpp"

namespace auspex::cli {

void SharedIntervals::settle(CampaignCase& of) {
    campaign::Setting& s = of.setting;
    const campaign::Checkpoints& c = s.checkpoints;
    const std::array<double, 4> key{static_cast<double>(s.nodes.count), c.stall_s, c.write_s, c.persistent_stall_s};
    const auto known = found_.find(key);
    if (known == found_.end()) {
        settle_spares(of, samples_);
        const auto best = of.is_auto ? settle_interval(of, samples_.seed) : std::nullopt;
        found_[key] = {best ? best->interval_s : 0, s.nodes.spares};
        return;
    }
    const Found& found = known->second;
    s.nodes.spares = of.is_auto_spares ? found.spares : s.nodes.spares;
    if (of.is_auto) {
        s.checkpoints.every_steps = found.interval_s > 0 ? steps_between(found.interval_s / s.step_s, s) : s.steps;
    }
}

}  // namespace auspex::cli
