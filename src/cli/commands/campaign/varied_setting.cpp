/// @file Ranges read, and settings changed.
#include "cli/commands/campaign/varied_setting.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "cli/commands/campaign/campaign_kinds.hpp"
#include "cli/flags/flag_numbers.hpp"

namespace auspex::cli {
namespace {

const char* const kForm = "interval, spares, walltime or nodes, as in interval=2min:2h:10 or spares=0:20:11";

bool is_time(const std::string& what) { return what == "interval" || what == "walltime"; }

double read_value(const std::string& where, const std::string& what, const std::string& text) {
    if (is_time(what)) {
        const double seconds = parse_quantity(text, Dimension::kSeconds, where, "30 min");
        if (!(seconds > 0)) {
            throw InputError(where, "found \"" + text + "\"; expected more than zero, such as 30min");
        }
        return seconds;
    }
    return parse_whole_of(where, text, what == "nodes" ? 1 : 0, 1'000'000);
}

}  // namespace

Range read_range(const std::string& flag, const std::string& text) {
    constexpr int kMost = 100;
    const auto fail = [&] { throw InputError(flag, "found \"" + text + "\"; expected " + kForm); };
    const std::size_t equals = text.find('=');
    Range range{text.substr(0, equals)};
    const bool is_known =
        range.what == "interval" || range.what == "spares" || range.what == "walltime" || range.what == "nodes";
    if (equals == std::string::npos || !is_known) {
        fail();
    }
    std::vector<std::string> parts;
    std::istringstream stream(text.substr(equals + 1) + ":");
    for (std::string part; std::getline(stream, part, ':');) {
        parts.push_back(part);
    }
    if (parts.size() != 3) {
        fail();
    }
    const std::string where = flag + " " + range.what;
    range.from = read_value(where, range.what, parts[0]);
    range.to = read_value(where, range.what, parts[1]);
    range.count = parse_whole_of(where, parts[2], 2, kMost);
    if (!(range.to > range.from)) {
        throw InputError(flag, "found \"" + text + "\"; expected a last value above the first");
    }
    return range;
}

std::vector<double> values_of(const Range& range) {
    const bool is_by_factors = range.from > 0 && (range.what == "interval" || range.what == "nodes");
    std::vector<double> values;
    for (int i = 0; i < range.count; ++i) {
        const double share = static_cast<double>(i) / (range.count - 1);
        const double value = is_by_factors ? range.from * std::pow(range.to / range.from, share)
                                           : std::lerp(range.from, range.to, share);
        values.push_back(is_time(range.what) ? value : std::round(value));
    }
    const auto [first, last] = std::ranges::unique(values);
    values.erase(first, last);
    return values;
}

std::string value_text(const std::string& what, double value) {
    return is_time(what) ? format_quantity(value, Dimension::kSeconds) : thousands(value);
}

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
        one.setting.checkpoints.every_steps = closed_form_steps(one.setting);
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
