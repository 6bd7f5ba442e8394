/// @file Draws of spells of slow nodes.
#include "campaign/slow_spells.hpp"

#include <algorithm>
#include <cmath>

namespace auspex::campaign {

SlowSpells::SlowSpells(const SlowNodes& slow, Rng rng) : slow_(slow), rng_(rng) { draw(0); }

void SlowSpells::draw(Nanoseconds from) {
    if (slow_.mean_s <= 0) {
        return;
    }
    begin_ = std::min(from + to_nanoseconds(-slow_.mean_s * std::log1p(-rng_.uniform())), kNever);
    end_ = std::min(begin_ + to_nanoseconds(slow_.lasts_s), kNever);
}

Nanoseconds SlowSpells::pace(Nanoseconds exposed, Nanoseconds step) {
    while (exposed >= end_) {
        draw(end_);
    }
    return exposed < begin_ ? step : std::max(step, to_nanoseconds(to_seconds(step) * slow_.factor));
}

}  // namespace auspex::campaign
