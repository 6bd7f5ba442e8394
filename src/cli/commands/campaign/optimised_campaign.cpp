/// @file Ranges, all combinations of them, and the search's answer in the report's words.
#include "cli/commands/campaign/optimised_campaign.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "campaign/optimum/halving.hpp"
#include "cli/commands/campaign/search_edges.hpp"
#include "launch/progress_line.hpp"

namespace auspex::cli {
namespace {

constexpr std::size_t kMostSettings = 10'000;

using Values = std::vector<std::pair<std::string, double>>;

std::vector<double> usual_nodes(const CampaignCase& played) {
    std::vector<double> values;
    for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0}) {
        const double nodes = played.setting.nodes.count * factor;
        if (nodes >= 1 && nodes == std::floor(nodes) && (played.most_nodes == 0 || nodes <= played.most_nodes)) {
            values.push_back(nodes);
        }
    }
    return values;
}

/// Where a word has no range of its own.
std::vector<double> usual_values(const std::string& what, const CampaignCase& played, const campaign::Result& result) {
    const campaign::Setting& s = played.setting;
    if (what == "nodes") {
        return usual_nodes(played);
    }
    if (what == "spares") {
        constexpr int kPoints = 9;
        const std::int64_t most = std::max<std::int64_t>({2 * result.spares_needed_p99, s.nodes.spares.value_or(0), 1});
        return values_of({what, 0, static_cast<double>(most), kPoints});
    }
    constexpr int kPoints = 4;
    return values_of({what, s.blocks.walltime_s / kPoints, s.blocks.walltime_s, kPoints});
}

std::vector<Varied> values_of_words(const std::vector<OptimisedWord>& words, const CampaignCase& played,
                                    const campaign::Result& result) {
    std::vector<Varied> all;
    for (const OptimisedWord& word : words) {
        all.push_back({word.what, word.range ? values_of(*word.range) : usual_values(word.what, played, result)});
    }
    return all;
}

/// All combinations; nodes change slowest, as each has a prediction.
std::vector<Values> combinations(const std::vector<Varied>& words) {
    std::vector<Values> all{{}};
    for (const Varied& word : words) {
        std::vector<Values> longer;
        for (const Values& one : all) {
            for (const double value : word.values) {
                longer.push_back(one);
                longer.back().emplace_back(word.what, value);
            }
        }
        all = std::move(longer);
        if (all.size() > kMostSettings) {
            throw InputError("--optimise", "found more than " + thousands(kMostSettings) +
                                               " combinations of values; expected fewer values");
        }
    }
    return all;
}

report::OptimumPoint point_of(const campaign::Setting& s, std::int64_t every_steps, const campaign::Result& result) {
    report::OptimumPoint point;
    point.nodes = s.nodes.count;
    point.spares = s.nodes.spares;
    point.walltime_s = s.blocks.walltime_s;
    point.every_steps = every_steps;
    point.steps = s.steps;
    point.interval_s = static_cast<double>(every_steps) * s.step_s;
    point.elapsed_s = result.elapsed_s;
    point.node_hours = result.node_hours;
    point.goodput = result.goodput;
    return point;
}

/// Of what words name, but the interval.
bool has_same_numbers(const campaign::Setting& one, const campaign::Setting& other) {
    return one.nodes.count == other.nodes.count && one.nodes.spares == other.nodes.spares &&
           one.blocks.walltime_s == other.blocks.walltime_s;
}

void fill_points(report::CampaignOptimum& to, const std::vector<campaign::Setting>& settings,
                 const campaign::Optimum& found) {
    for (const campaign::Finalist& one : found.finalists) {
        to.points.push_back(point_of(settings[one.index], one.every_steps, one.result));
    }
    for (const std::size_t i : found.front) {
        to.points[i].is_on_front = true;
    }
    const report::OptimumPoint best = to.points[found.best];
    std::ranges::stable_sort(to.points, {}, [](const report::OptimumPoint& one) { return one.elapsed_s.p50; });
    const auto is_best = [&](const report::OptimumPoint& one) {
        return one.nodes == best.nodes && one.spares == best.spares && one.walltime_s == best.walltime_s &&
               one.every_steps == best.every_steps;
    };
    to.best = static_cast<std::size_t>(std::ranges::find_if(to.points, is_best) - to.points.begin());
}

}  // namespace

std::vector<OptimisedWord> read_optimised(const Options& options) {
    const CampaignFlags& flags = options.campaign;
    std::vector<OptimisedWord> all;
    if (flags.optimise.empty()) {
        return all;
    }
    constexpr const char* kForm = "a range, such as nodes=256:2048:4 or walltime=6h:24h:4";
    const auto fail = [](const std::string& found, const std::string& expected) {
        throw InputError("--optimise", "found " + found + "; expected " + expected);
    };
    std::istringstream words(flags.optimise + ",");
    for (std::string word; std::getline(words, word, ',');) {
        const std::string what = word.substr(0, word.find('='));
        const bool has_range = what != word;
        if (what != "spares" && what != "nodes" && what != "walltime") {
            fail("\"" + word + "\"",
                 std::string("spares, nodes, walltime, each with a range where it is wanted, such as "
                             "nodes=256:2048:4") +
                     (what == "interval" ? " (the interval is the best one, unless --checkpoint-every gives it)" : ""));
        }
        if (std::ranges::any_of(all, [&](const OptimisedWord& one) { return one.what == what; })) {
            fail(what + " twice", "each word once");
        }
        if (what == "nodes" && flags.bare) {
            fail("nodes with --bare", "spares or walltime, for a step on other nodes has to be predicted");
        }
        if (what == "nodes" && options.tokens == 0) {
            fail("nodes with --steps, which train other numbers of tokens on other nodes", "--tokens");
        }
        if (what == "walltime" && !has_range && flags.walltime_s <= 0) {
            fail("walltime without --walltime", "both, or walltime=FROM:TO:N");
        }
        all.push_back({what, has_range ? std::optional(read_range("--optimise", word, {what}, kForm)) : std::nullopt});
    }
    return all;
}

report::CampaignOptimum optimised_campaign(const Options& options, const std::vector<OptimisedWord>& words,
                                           const CampaignCase& played, const campaign::Result& result) {
    report::CampaignOptimum to;
    const std::vector<Varied> varied_words = values_of_words(words, played, result);
    for (const OptimisedWord& word : words) {
        to.varied.push_back(word.what);
    }
    std::vector<campaign::Setting> settings{played.setting};
    VariedSettings varied(options, played, "--optimise");
    const std::vector<Values> all = combinations(varied_words);
    for (const Values& values : all) {
        try {
            const campaign::Setting setting = varied.with(values, false);
            if (!has_same_numbers(setting, played.setting)) {
                settings.push_back(setting);
            }
        } catch (const InputError& error) {
            to.why_left_out = to.left_out++ == 0 ? error.what() : to.why_left_out;
        }
    }
    if (to.left_out == all.size()) {
        throw InputError("--optimise", "found no setting beside the one given that can be played: " + to.why_left_out);
    }
    launch::ProgressLine line("settings played");
    const bool is_finish = options.campaign.objective != "node-hours";
    const campaign::Samples samples{options.campaign.samples, options.seed.value_or(1)};
    const campaign::Optimum found =
        best_setting(settings, is_finish ? campaign::Objective::kFinish : campaign::Objective::kNodeHours, samples,
                     !played.is_auto, [&line](std::size_t done, std::size_t of) { line.show(done, of); });
    to.objective = is_finish ? "finish-by" : "node-hours";
    to.settings = settings.size();
    to.played = found.played;
    to.given = point_of(played.setting, played.setting.checkpoints.every_steps, result);
    fill_points(to, settings, found);
    to.at_edge = edges_of(to.points[to.best], to.given, varied_words, played.most_nodes);
    campaign::Setting best = settings[found.finalists[found.best].index];
    best.checkpoints.every_steps = found.finalists[found.best].every_steps;
    to.gain = campaign::gain_of(played.setting, best, samples);
    to.played += 2 * samples.count;
    return to;
}

}  // namespace auspex::cli
