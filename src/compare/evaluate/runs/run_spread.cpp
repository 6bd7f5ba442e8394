/// @file Spreads of cases, each source left out in turn.
#include "compare/evaluate/runs/run_spread.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics/distributions.hpp"
#include "base/statistics/quantiles.hpp"

namespace auspex::evaluate {
namespace {

constexpr double kHeld = 0.9;  ///< of intervals

/// Stack and machine; empty: any.
using Key = std::pair<std::string, std::string>;

struct Members {
    std::vector<double> sigmas;
    std::map<std::string, int> sources;  ///< and how many runs each has
};

}  // namespace

double missing_sigma(const ValidatedRun& run) {
    const double reach = normal_reach(kHeld);
    const double end = run.measured.seconds > run.predicted_s ? run.constants_s.high : run.constants_s.low;
    const double of_constants = std::log(end / run.predicted_s) / reach;
    const double of_case = std::log(run.predicted_s / run.measured.seconds) / reach;
    return std::sqrt(std::max(0.0, of_case * of_case - of_constants * of_constants));
}

std::vector<models::PublishedSpread> spreads_of(const std::vector<ValidatedRun>& runs, const std::string* without) {
    std::map<Key, Members> groups;
    for (const ValidatedRun& one : runs) {
        if (!one.why_unmapped.empty() || one.is_corrected || (without != nullptr && one.run.source_key == *without)) {
            continue;
        }
        for (const Key& key : {Key{"", ""}, Key{one.stack, ""}, Key{"", one.machine}, Key{one.stack, one.machine}}) {
            groups[key].sigmas.push_back(missing_sigma(one));
            ++groups[key].sources[one.run.source_key];
        }
    }
    std::vector<models::PublishedSpread> spreads;
    for (const auto& [key, members] : groups) {
        const auto with_several = std::ranges::count_if(
            members.sources, [](const auto& source) { return source.second >= kLeastRunsOfSource; });
        if (members.sigmas.size() >= models::kLeastRunsOfSpread && with_several >= kLeastSourcesOfSpread) {
            spreads.push_back({key.first, key.second, static_cast<int>(members.sigmas.size()),
                               static_cast<int>(members.sources.size()), quantile(members.sigmas, kHeld)});
        }
    }
    return spreads;
}

void judge_intervals(std::vector<ValidatedRun>& runs, const std::vector<models::PublishedSpread>& shipped) {
    std::map<std::string, std::vector<models::PublishedSpread>> by_source;
    for (const ValidatedRun& one : runs) {
        if (!by_source.contains(one.run.source_key)) {
            by_source[one.run.source_key] = spreads_of(runs, &one.run.source_key);
        }
    }
    for (ValidatedRun& one : runs) {
        if (!one.why_unmapped.empty()) {
            continue;
        }
        one.spread = find_spread(by_source[one.run.source_key], one.stack, one.machine);
        if (!one.spread) {
            one.spread = find_spread(shipped, one.stack, one.machine);
        }
        const Interval interval = widened(one.predicted_s, one.constants_s, one.spread ? one.spread->sigma : 0);
        one.low_s = interval.low, one.high_s = interval.high;
    }
}

}  // namespace auspex::evaluate
