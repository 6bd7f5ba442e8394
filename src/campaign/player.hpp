#pragma once
/// @file Plays one sample of a campaign, from event to event.
#include <cstdint>

#include "campaign/setting.hpp"
#include "campaign/spent.hpp"

namespace auspex::campaign {

/// Which sample, and what is kept of it.
struct SampleChoice {
    std::uint64_t seed = 1, index = 0;
    bool keeps_periods = false;
};

/// The same setting, seed and index give the same outcome, whatever else is played. Requires a setting that check()
/// (campaign/campaign.hpp) lets pass. A run that gets nowhere is given up after so many events that one which does
/// would have been over: is_finished is false then.
[[nodiscard]] Outcome play_sample(const Setting& setting, const SampleChoice& choice);

/// The time in which the spares of a job have to do: until failed nodes are back, else a block; 0: the whole campaign.
[[nodiscard]] double spare_window_s(const Setting& setting);

}  // namespace auspex::campaign
