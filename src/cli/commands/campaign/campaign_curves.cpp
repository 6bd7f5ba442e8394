/// @file auspex campaign --vary: intervals, spares, walltimes, nodes.
#include "cli/commands/campaign/campaign_curves.hpp"

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

struct Range {
    std::string what;
    double from = 0, to = 0;
    int count = 0;
};

double read_value(const std::string& what, const std::string& text) {
    if (what == "interval" || what == "walltime") {
        const double seconds = parse_quantity(text, Dimension::kSeconds, "--vary " + what, "30 min");
        if (!(seconds > 0)) {
            throw InputError("--vary " + what, "found \"" + text + "\"; expected more than zero, such as 30min");
        }
        return seconds;
    }
    return parse_whole("vary", text, what == "nodes" ? 1 : 0, 1'000'000);
}

Range read_range(const std::string& text) {
    constexpr int kMost = 100;
    const auto fail = [&] { throw InputError("--vary", "found \"" + text + "\"; expected " + kForm); };
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
    range.from = read_value(range.what, parts[0]);
    range.to = read_value(range.what, parts[1]);
    range.count = parse_whole("vary", parts[2], 2, kMost);
    if (!(range.to > range.from)) {
        throw InputError("--vary", "found \"" + text + "\"; expected a last value above the first");
    }
    return range;
}

/// Intervals and nodes by equal factors, others by equal steps; counts are whole, each once.
std::vector<double> values_of(const Range& range) {
    const bool is_time = range.what == "interval" || range.what == "walltime";
    const bool is_by_factors = range.from > 0 && (range.what == "interval" || range.what == "nodes");
    std::vector<double> values;
    for (int i = 0; i < range.count; ++i) {
        const double share = static_cast<double>(i) / (range.count - 1);
        const double value = is_by_factors ? range.from * std::pow(range.to / range.from, share)
                                           : std::lerp(range.from, range.to, share);
        values.push_back(is_time ? value : std::round(value));
    }
    const auto [first, last] = std::ranges::unique(values);
    values.erase(first, last);
    return values;
}

report::CampaignPoint played_point(const Options& options, const campaign::Setting& setting, double value,
                                   std::string text) {
    const campaign::Result result =
        campaign::play_campaign(setting, {options.campaign.samples, options.seed.value_or(1)});
    return {value, std::move(text), result.elapsed_s, result.node_hours, result.goodput};
}

/// The job on other nodes: another prediction, and another interval where none is given.
campaign::Setting on_nodes(const Options& options, const CampaignCase& played, int nodes) {
    if (!played.run) {
        throw InputError("--vary",
                         "found nodes with --bare; expected interval, spares or walltime, for a step on "
                         "other nodes has to be predicted");
    }
    Options other = options;
    const int tiles_of_node = (played.run->tiles + played.setting.nodes.count - 1) / played.setting.nodes.count;
    other.tiles = {nodes * tiles_of_node};
    other.nodes.clear();
    CampaignCase one = predicted_campaign(other);
    if (one.is_auto) {
        settle(one, {options.campaign.samples, options.seed.value_or(1)});
    }
    return one.setting;
}

campaign::Setting with_value(const Options& options, const CampaignCase& played, const Range& range, double value) {
    campaign::Setting s = played.setting;
    if (range.what == "nodes") {
        return on_nodes(options, played, static_cast<int>(value));
    }
    if (range.what == "interval") {
        s.checkpoints.every_steps = steps_between(value / s.step_s, s);
    } else if (range.what == "spares") {
        s.nodes.spares = static_cast<int>(value);
    } else {
        s.blocks.walltime_s = value;
        s.starts_cold = true;
    }
    check_that_it_can_end(options.campaign, s);
    return s;
}

}  // namespace

report::CampaignCurve varied_campaigns(const Options& options, const CampaignCase& played) {
    const Range range = read_range(options.campaign.vary);
    const bool is_time = range.what == "interval" || range.what == "walltime";
    report::CampaignCurve curve{range.what, {}};
    for (const double value : values_of(range)) {
        campaign::Setting setting;
        try {
            setting = with_value(options, played, range, value);
        } catch (const InputError& error) {
            throw InputError("--vary " + options.campaign.vary, error.what());
        }
        const double as_played =
            range.what == "interval" ? static_cast<double>(setting.checkpoints.every_steps) * setting.step_s : value;
        if (!curve.points.empty() && curve.points.back().value == as_played) {
            continue;
        }
        curve.points.push_back(
            played_point(options, setting, as_played,
                         is_time ? format_quantity(as_played, Dimension::kSeconds) : thousands(as_played)));
    }
    return curve;
}

report::CampaignCurve spares_curve(const Options& options, const campaign::Setting& setting, std::int64_t needed) {
    constexpr int kPoints = 9;
    const auto most = static_cast<double>(std::max<std::int64_t>({2 * needed, setting.nodes.spares.value_or(0), 1}));
    report::CampaignCurve curve{"spares", {}};
    for (const double value : values_of({"spares", 0, most, kPoints})) {
        campaign::Setting other = setting;
        other.nodes.spares = static_cast<int>(value);
        curve.points.push_back(played_point(options, other, value, thousands(value)));
    }
    return curve;
}

}  // namespace auspex::cli
