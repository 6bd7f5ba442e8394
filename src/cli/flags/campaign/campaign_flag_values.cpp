/// @file Values of the flags of auspex campaign.
#include "cli/flags/campaign_flags.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/units.hpp"
#include "campaign/quantities.hpp"
#include "cli/flags/flag_numbers.hpp"

namespace auspex::cli {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr double kWidestSpread = 1'000;
constexpr int kMostMachines = 10'000'000, kMostSamples = 1'000'000;

double parse_time(const char* flag, const std::string& text, const char* example, bool may_be_zero = true) {
    const std::string written = std::string("--") + flag;
    const double seconds = parse_quantity(text, Dimension::kSeconds, written, example);
    if (!(seconds >= 0 && seconds <= campaign::kLongestRun_s && (may_be_zero || seconds >= 1e-9))) {
        throw InputError(written, "found \"" + text + "\"; expected a time from " + (may_be_zero ? "0 s" : "1 ns") +
                                      " to 50 years, such as \"" + example + "\"");
    }
    return seconds;
}

/// A length, or the median and the standard deviation of the logarithm of lengths.
struct Spread {
    double median_s = 0, sigma = 0;
};

/// "TIME", or "TIME:P90", the latter of a log-normal.
Spread parse_spread(const char* flag, const std::string& text, const char* example, bool may_be_zero) {
    const std::size_t colon = text.find(':');
    Spread spread{parse_time(flag, text.substr(0, colon), example, may_be_zero), 0};
    if (colon == std::string::npos) {
        return spread;
    }
    const double p90_s = parse_time(flag, text.substr(colon + 1), example, may_be_zero);
    if (!(spread.median_s > 0 && p90_s > spread.median_s && p90_s <= kWidestSpread * spread.median_s)) {
        throw InputError(std::string("--") + flag, "found \"" + text +
                                                       "\"; expected MEDIAN:P90, the latter longer, and at most 1,000 "
                                                       "times as long");
    }
    constexpr double kNormal90 = 1.2815515655446004;  // the standard normal's 90 % quantile
    spread.sigma = std::log(p90_s / spread.median_s) / kNormal90;
    return spread;
}

double parse_share(const char* flag, const std::string& text) {
    return parse_number(flag, text, 0.0, 1.0, "a number from 0 to 1");
}

/// Parts of "A:B:C", as many as `form` has before its comma.
std::vector<std::string> parse_parts(const char* flag, const std::string& text, const std::string& form) {
    std::vector<std::string> parts;
    std::istringstream stream(text + ":");
    for (std::string part; std::getline(stream, part, ':');) {
        parts.push_back(part);
    }
    if (static_cast<std::ptrdiff_t>(parts.size()) !=
        std::count(form.begin(), form.begin() + static_cast<std::ptrdiff_t>(form.find(',')), ':') + 1) {
        throw InputError(std::string("--") + flag, "found \"" + text + "\"; expected " + form);
    }
    return parts;
}

CheckpointEvery parse_every(const std::string& text) {
    CheckpointEvery every;
    if (text == "auto") {
        return every;
    }
    if (reads_as(text, every.steps)) {
        if (every.steps < 1) {
            throw InputError("--checkpoint-every", "found \"" + text + "\"; expected a step at least");
        }
        return every;
    }
    if (text.empty() || text.find_first_of("0123456789") == std::string::npos) {
        throw InputError("--checkpoint-every",
                         "found \"" + text + "\"; expected a time, such as \"13.5 min\", steps, such as 100, or auto");
    }
    every.seconds = parse_time("checkpoint-every", text, "13.5 min", false);
    return every;
}

void store_failures(CampaignFlags& to, const std::string& text) {
    constexpr double kLeastShape = 0.1, kMostShape = 10;
    if (text == "exponential") {
        return;
    }
    if (text.starts_with("weibull:")) {
        to.weibull_shape = parse_number("failures", text.substr(8), kLeastShape, kMostShape,
                                        "weibull:SHAPE with a shape from 0.1 to 10");
    } else if (text.starts_with("trace:") && text.size() > 6) {
        to.trace = text.substr(6);
    } else {
        throw InputError("--failures", "found \"" + text + "\"; expected exponential, weibull:SHAPE or trace:FILE");
    }
}

void store_maintenance(CampaignFlags& to, const std::string& text) {
    const std::vector<std::string> parts = parse_parts("maintenance", text, "EVERY:LENGTH, such as 7d:12h");
    to.maintenance_every_s = parse_time("maintenance", parts[0], "7 d", false);
    to.maintenance_s = parse_time("maintenance", parts[1], "12 h", false);
    if (to.maintenance_s >= to.maintenance_every_s) {
        throw InputError("--maintenance",
                         "found \"" + text + "\"; expected a length below the time from one to the next");
    }
}

void store_lemons(CampaignFlags& to, const std::string& text) {
    const std::vector<std::string> parts = parse_parts("lemons", text, "SHARE:FACTOR, such as 0.02:10");
    to.lemon_share = parse_share("lemons", parts[0]);
    to.lemon_factor = parse_number("lemons", parts[1], 1.0, 1e6, "SHARE:FACTOR with a factor from 1 to 1e6");
}

void store_slow_nodes(CampaignFlags& to, const std::string& text) {
    const std::vector<std::string> parts = parse_parts("slow-nodes", text, "EVERY:FACTOR:LENGTH, such as 3d:1.3:6h");
    to.slow_every_s = parse_time("slow-nodes", parts[0], "3 d", false);
    to.slow_factor =
        parse_number("slow-nodes", parts[1], 1.0, 1000.0, "EVERY:FACTOR:LENGTH with a factor from 1 to 1000");
    to.slow_s = parse_time("slow-nodes", parts[2], "6 h", false);
}

void store_spares(CampaignFlags& to, const std::string& text) {
    to.auto_spares = text == "auto";
    if (!to.auto_spares) {
        to.spares = parse_number("spares", text, 0, kMostMachines,
                                 "a whole number from 0 to " + std::to_string(kMostMachines) + ", or auto");
    }
}

void store_objective(CampaignFlags& to, const std::string& text) {
    if (text != "finish-by" && text != "node-hours") {
        throw InputError("--objective", "found \"" + text + "\"; expected finish-by or node-hours");
    }
    to.objective = text;
}

std::int64_t parse_steps(const std::string& text) {
    const double steps = parse_quantity(text, Dimension::kCount, "--steps", "100000");
    if (!(steps >= 1 && steps <= static_cast<double>(kMostSteps)) ||
        steps != static_cast<double>(static_cast<std::int64_t>(steps))) {
        throw InputError("--steps", "found \"" + text + "\"; expected a whole number from 1 to 1e9");
    }
    return static_cast<std::int64_t>(steps);
}

std::vector<std::string> parse_words(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream stream(text + ",");
    for (std::string word; std::getline(stream, word, ',');) {
        words.push_back(word);
    }
    return words;
}

}  // namespace

void store_campaign_flag(Options& options, Flag flag, const std::string& text) {
    CampaignFlags& to = options.campaign;
    const auto time = [&](const char* example, bool may_be_zero = true) {
        return parse_time(campaign_flag_text(flag).name, text, example, may_be_zero);
    };
    switch (flag) {
        case Flag::kBare: to.bare = true; break;
        case Flag::kStepTime: to.step_s = time("8.2 s", false); break;
        case Flag::kCampaignSteps: to.steps = parse_steps(text); break;
        case Flag::kMtbf: to.mtbf_s = time("3.09 h", false); break;
        case Flag::kFailures: store_failures(to, text); break;
        case Flag::kMachines: to.machines = parse_whole("machines", text, 1, kMostMachines); break;
        case Flag::kDailyFailure:
            to.daily_failure = parse_number("daily-failure", text, 0.0, 0.999, "a number from 0 to 0.999");
            break;
        case Flag::kStall: to.stall_s = time("30 s"); break;
        case Flag::kWrite: to.write_s = time("2 min"); break;
        case Flag::kRestart: to.restart_s = time("5 min"); break;
        case Flag::kIntervalOfCheckpoints: to.checkpoint_every = parse_every(text); break;
        case Flag::kDetection: to.detection_s = time("30 s"); break;
        case Flag::kSilent: to.silent_share = parse_share("silent", text); break;
        case Flag::kSoft: to.soft_share = parse_share("soft", text); break;
        case Flag::kWatchdog: to.watchdog_s = time("30 min"); break;
        case Flag::kSwap: to.swap_s = time("1 min"); break;
        case Flag::kSpares: store_spares(to, text); break;
        case Flag::kReplenish: {
            const Spread spread = parse_spread("replenish", text, "1 d", false);
            to.replenish_s = spread.median_s, to.replenish_sigma = spread.sigma;
            break;
        }
        case Flag::kFailedStarts:
            to.failed_start_share = parse_number("failed-starts", text, 0.0, 0.9, "a number from 0 to 0.9");
            break;
        case Flag::kWalltime: to.walltime_s = time("12 h", false); break;
        case Flag::kQueueWait: {
            const Spread spread = parse_spread("queue-wait", text, "6 h", true);
            to.queue_wait_s = spread.median_s, to.queue_wait_sigma = spread.sigma;
            break;
        }
        case Flag::kMaintenance: store_maintenance(to, text); break;
        case Flag::kLemons: store_lemons(to, text); break;
        case Flag::kSlowNodes: store_slow_nodes(to, text); break;
        case Flag::kCampaignSamples: to.samples = parse_whole("samples", text, 1, kMostSamples); break;
        case Flag::kFinishBy: to.deadline = text; break;
        case Flag::kStart: to.start = text; break;
        case Flag::kWithout: to.without = parse_words(text); break;
        case Flag::kBuildIndex: to.builds_index = true; break;
        case Flag::kOptimise: to.optimise = text; break;
        case Flag::kCampaignObjective: store_objective(to, text); break;
        case Flag::kCampaignVary: to.vary = text; break;
        default: check_failed("flag", "unknown flag", __FILE__, __LINE__);
    }
}

}  // namespace auspex::cli
