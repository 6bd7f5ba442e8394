#pragma once
/// @file Intervals and spare nodes of campaigns that are alike, found once.
#include <array>
#include <map>

#include "cli/campaigns/campaign_case.hpp"

namespace auspex::cli {

/// The best time between checkpoints depends on failures, stall and write, not on the step and hardly on the restart
/// (closed_forms.hpp): campaigns with the same nodes, stall and write share it, each rounded to its own steps; likewise
/// the spare nodes of --spares auto. Layouts of one number of tiles so cost one search of nine long campaigns.
class SharedIntervals {
 public:
    explicit SharedIntervals(const campaign::Samples& samples) : samples_(samples) {}

    /// As settle() (campaign_case.hpp), but no interval is searched for where one is given. Throws InputError as it
    /// does.
    void settle(CampaignCase& of);

 private:
    struct Found {
        double interval_s = 0;  ///< 0: nothing fails, and one checkpoint at the end is enough
        std::optional<int> spares;
    };
    campaign::Samples samples_;
    std::map<std::array<double, 4>, Found> found_;
};

}  // namespace auspex::cli
