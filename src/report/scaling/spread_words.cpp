/// @file Words for spreads.
#include "report/scaling/spread_words.hpp"

#include "base/number_text.hpp"

namespace auspex::report {

const char* spread_scope(const models::PublishedSpread& spread) {
    return spread.stack.empty() ? (spread.machine.empty() ? "all" : "machine")
                                : (spread.machine.empty() ? "stack" : "stack and machine");
}

std::string spread_runs(const models::PublishedSpread& spread) {
    const std::string runs = counted(spread.runs, "published run");
    if (spread.stack.empty() && spread.machine.empty()) {
        return "the group of all " + runs +
               " that has the widest (too few sources, or none, have this stack or this machine)";
    }
    if (spread.stack.empty()) {
        return runs + " on " + spread.machine + " (too few sources have this stack there)";
    }
    return runs + " with stack " + spread.stack +
           (spread.machine.empty() ? " (too few sources have it on this machine)" : " on " + spread.machine);
}

std::string spread_words(const predict::Prediction& p) {
    const double sigma = p.published_spread->sigma;
    const std::string constants = "constants ±" + percent(p.step_time_interval_s.high / p.step_time_s - 1);
    if (sigma == 0) {
        return constants + ", which are enough for nine of ten of " + spread_runs(*p.published_spread);
    }
    return constants + ", unexplained spread of " + spread_runs(*p.published_spread) + " ±" +
           percent(widened(1, {1, 1}, sigma).high - 1);
}

}  // namespace auspex::report
