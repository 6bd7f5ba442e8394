/// @file Medians over undisturbed trials.
#include "microbench/trials.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/statistics/quantiles.hpp"

namespace auspex::microbench {

Timing timing_of(std::span<const double> repetitions_s) {
    return {median(repetitions_s), relative_spread(repetitions_s), static_cast<int>(repetitions_s.size())};
}

Trial combined(std::span<const Trial> trials) {
    AUSPEX_CHECK(!trials.empty(), "at least one look");
    Trial all;
    all.is_undisturbed = true;
    std::vector<double> seconds, spreads, probes_s;
    for (const Trial& trial : trials) {
        if (trial.is_undisturbed) {
            seconds.push_back(trial.seconds);
            spreads.push_back(trial.spread);
            probes_s.push_back(trial.probe_s);
            all.count += trial.count;
        }
    }
    if (seconds.empty()) {
        return *std::ranges::min_element(trials, {}, &Trial::seconds);
    }
    all.seconds = median(seconds);
    all.probe_s = median(probes_s);
    all.spread = std::max(median(spreads), relative_spread(seconds));
    return all;
}

}  // namespace auspex::microbench
