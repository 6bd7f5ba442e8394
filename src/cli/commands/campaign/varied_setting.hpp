#pragma once
/// @file Settings that differ from a campaign's own in some numbers.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/campaigns/campaign_case.hpp"

namespace auspex::cli {

/// Settings with other numbers. A job on other nodes is predicted anew, once for each number of nodes.
class VariedSettings {
 public:
    /// Keeps references to `options` and `played`; `flag`: that asked for it.
    VariedSettings(const Options& options, const CampaignCase& played, std::string flag)
        : options_(options), played_(played), flag_(std::move(flag)) {}

    /// The campaign with each word's value in place of its own; on other nodes with an interval of its own, unless one
    /// is given; without `settles` with the closed form's, and only where the plan fits. Throws InputError, which names
    /// the flag and the values, for what cannot be played.
    [[nodiscard]] campaign::Setting with(const std::vector<std::pair<std::string, double>>& values,
                                         bool settles = true);

 private:
    const CampaignCase& on_nodes(int nodes, bool settles);
    void set(CampaignCase& of, const std::string& what, double value) const;

    const Options& options_;
    const CampaignCase& played_;
    std::string flag_;
    std::map<int, CampaignCase> on_nodes_;
};

}  // namespace auspex::cli
