/// @file Settings changed.
#include "cli/commands/campaign/varied_setting.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "campaign/finish/expected_finish.hpp"
#include "cli/commands/campaign/campaign_kinds.hpp"
#include "cli/commands/campaign/ranges.hpp"

namespace auspex::cli {

const CampaignCase& VariedSettings::on_nodes(int nodes, bool settles) {
    if (const auto known = on_nodes_.find(nodes); known != on_nodes_.end()) {
        return known->second;
    }
    if (played_.most_nodes > 0 && nodes > played_.most_nodes) {
        throw InputError("", "found " + thousands(nodes) + " nodes; expected at most " + thousands(played_.most_nodes) +
                                 ", all that a job on " + played_.run->machine + " may have");
    }
    Options other = options_;
    const int tiles_of_node = (played_.run->tiles + played_.setting.nodes.count - 1) / played_.setting.nodes.count;
    other.tiles = {nodes * tiles_of_node};
    other.nodes.clear();
    CampaignCase one;
    try {
        one = predicted_campaign(other);
    } catch (const InputError& error) {
        throw InputError("", "found " + thousands(nodes) + " nodes, which are " + thousands(other.tiles.front()) +
                                 " tiles, for a plan that cannot be laid over them: " + error.found());
    }
    if (settles) {
        settle(one, {options_.campaign.samples, options_.seed.value_or(1)});
    } else if (one.is_auto) {
        one.setting.checkpoints.every_steps = campaign::closed_form_steps(one.setting);
    }
    return on_nodes_.emplace(nodes, std::move(one)).first->second;
}

void VariedSettings::set(CampaignCase& of, const std::string& what, double value) const {
    campaign::Setting& s = of.setting;
    if (what == "interval") {
        s.checkpoints.every_steps = steps_between(value / s.step_s, s);
    } else if (what == "spares") {
        s.nodes.spares = static_cast<int>(value);
    } else {
        s.blocks.walltime_s = value;
        s.starts_cold = true;
    }
}

campaign::Setting VariedSettings::with(const std::vector<std::pair<std::string, double>>& values, bool settles) {
    std::string name = flag_;
    for (const auto& [what, value] : values) {
        name += (name == flag_ ? " " : ",") + what + "=" + value_text(what, value);
    }
    if (!played_.run && std::ranges::any_of(values, [](const auto& one) { return one.first == "nodes"; })) {
        throw InputError(
            flag_,
            "found nodes with --bare; expected interval, spares or walltime, for a step on other nodes has "
            "to be predicted");
    }
    try {
        CampaignCase one = played_;
        for (const auto& [what, value] : values) {
            if (what == "nodes" && static_cast<int>(value) != played_.setting.nodes.count) {
                one = on_nodes(static_cast<int>(value), settles);
            }
        }
        for (const auto& [what, value] : values) {
            if (what != "nodes") {
                set(one, what, value);
            }
        }
        if (!settles && one.run && !one.run->fits && played_.run->fits) {
            throw InputError("", "found a plan that does not fit in memory there");
        }
        check_spares(one);
        check_that_it_can_end(options_.campaign, one.setting);
        return one.setting;
    } catch (const InputError& error) {
        throw InputError(name, error.found());
    }
}

}  // namespace auspex::cli
