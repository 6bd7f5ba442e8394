/// @file Flags that a bare and a predicted campaign share.
#include "cli/campaigns/campaign_case.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "campaign/agreement.hpp"
#include "campaign/finish/expected_finish.hpp"
#include "campaign/quantities.hpp"

namespace auspex::cli {
namespace {

std::string time_text(double seconds) { return format_quantity(seconds, Dimension::kSeconds); }

std::vector<double> read_trace(const std::string& file) {
    std::istringstream lines(read_input_file(file, "a file of times"));
    std::vector<double> times_s;
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.empty() || line.front() == '#') {
            continue;
        }
        const std::string where = file + ": line " + std::to_string(number);
        times_s.push_back(parse_quantity(line, Dimension::kSeconds, where, "3.09 h"));
        if (times_s.back() < (times_s.size() > 1 ? times_s[times_s.size() - 2] : 0)) {
            throw InputError(where, "found \"" + line + "\"; expected no less than the time before it");
        }
    }
    if (times_s.empty()) {
        throw InputError("--failures", "found no time in " + file + "; expected one on each line, such as 3.09h");
    }
    return times_s;
}

/// What the job needs of a block before it has done anything that stays.
double least_block_s(const campaign::Setting& s) {
    const campaign::Recovery& r = s.recovery;
    const double persistent_s = s.checkpoints.persistent_every > 0 ? s.checkpoints.persistent_stall_s : 0;
    return r.environment_s + r.restart_s + r.initialise_s + s.prepare_s + r.load_s + s.step_s + s.checkpoints.stall_s +
           persistent_s + s.checkpoints.write_s;
}

}  // namespace

void check_spares(const CampaignCase& of) {
    const int spares = of.setting.nodes.spares.value_or(0), left = of.most_nodes - of.setting.nodes.count;
    if (of.most_nodes > 0 && spares > left) {
        throw InputError("--spares", "found " + thousands(spares) + " beside " +
                                         counted(of.setting.nodes.count, "node") + "; expected at most " +
                                         thousands(left) + ": a job on " + of.run->machine + " may have " +
                                         thousands(of.most_nodes));
    }
}

/// A run of which failures leave next to nothing would be played for hours, to no end.
void check_failures(const CampaignFlags& flags, const campaign::Setting& s) {
    constexpr double kMostFailures = 1e5;
    const campaign::PoissonRun run = campaign::poisson_run_of(s);
    if (!std::isfinite(run.mtbf_s) || !s.recovery.is_interruptible) {
        return;
    }
    const std::int64_t every = flags.checkpoint_every ? s.checkpoints.every_steps : campaign::closed_form_steps(s);
    const double failures = run_time_s(run, s.steps, std::max<std::int64_t>(every, 1), s.step_s) / run.mtbf_s;
    if (!(failures <= kMostFailures)) {
        throw InputError(flags.mtbf_s > 0 ? "--mtbf" : "auspex campaign",
                         "found an interruption every " + time_text(run.mtbf_s) + " and " + time_text(run.restart_s) +
                             " to the next step: " +
                             (std::isfinite(failures) ? short_count(failures) : std::string("endlessly many")) +
                             " of them in " + thousands(static_cast<double>(s.steps)) + " steps of " +
                             time_text(s.step_s) + "; expected at most 100,000, of fewer nodes, steps or failures");
    }
}

void check_that_it_can_end(const CampaignFlags& flags, const campaign::Setting& s) {
    if (static_cast<double>(s.steps) * s.step_s > campaign::kLongestRun_s) {
        throw InputError("--steps", "found " + thousands(static_cast<double>(s.steps)) + " steps of " +
                                        time_text(s.step_s) + "; expected at most 50 years of them");
    }
    constexpr double kLeastReplenish_s = 60;
    if (s.nodes.replenish_s > 0 && s.nodes.replenish_s < kLeastReplenish_s) {
        throw InputError("--replenish", "found " + time_text(s.nodes.replenish_s) + "; expected at least 1 min");
    }
    if (s.slow.mean_s > 0 && std::min(s.slow.mean_s, s.slow.lasts_s) < 1) {
        throw InputError("--slow-nodes", "found " + time_text(std::min(s.slow.mean_s, s.slow.lasts_s)) +
                                             "; expected EVERY and LENGTH of at least 1 s");
    }
    const bool has_blocks = s.blocks.walltime_s > 0 || s.blocks.queue_wait_s > 0;
    if (s.nodes.spares && s.nodes.replenish_s <= 0 && !has_blocks) {
        throw InputError("--spares", "found " + (flags.auto_spares ? "auto" : std::to_string(*s.nodes.spares)) +
                                         " without --replenish, --walltime and --queue-wait; expected one of them, for "
                                         "a run that has used its spares waits for more");
    }
    const bool hangs =
        std::ranges::any_of(s.failures, [](const campaign::FailureSource& source) { return source.hang_share > 0; });
    if (hangs && s.recovery.watchdog_s <= 0 && s.blocks.walltime_s <= 0) {
        throw InputError("--watchdog",
                         "found 0 s without --walltime; expected either, for else nothing ends a silent hang");
    }
    if (s.blocks.walltime_s > 0 && s.blocks.walltime_s < least_block_s(s)) {
        throw InputError("--walltime", "found " + time_text(s.blocks.walltime_s) + "; expected at least " +
                                           time_text(least_block_s(s)) + ": a start, a step and a checkpoint");
    }
    const double free_s = s.blocks.maintenance_every_s - s.blocks.maintenance_s;
    if (flags.maintenance_s > 0 && free_s < least_block_s(s)) {
        throw InputError("--maintenance", "found " + time_text(free_s) + " between two; expected at least " +
                                              time_text(least_block_s(s)) + ": a start, a step and a checkpoint");
    }
    check_failures(flags, s);
}

campaign::FailureSource source_of(const CampaignFlags& flags, const std::string& component, double mean_s) {
    campaign::FailureSource source;
    source.component = source.cause = component;
    source.mean_s = mean_s;
    source.detection_s = flags.detection_s.value_or(0);
    if (!flags.trace.empty()) {
        source.spacing = campaign::Spacing::kTrace;
        source.times_s = read_trace(flags.trace);
    } else if (flags.weibull_shape > 0) {
        source.spacing = campaign::Spacing::kWeibull;
        source.shape = flags.weibull_shape;
    }
    return source;
}

bool is_without(const CampaignFlags& flags, const char* feature) {
    return std::ranges::find(flags.without, feature) != flags.without.end();
}

void check_without(const CampaignFlags& flags, const std::vector<std::string>& features) {
    std::string expected;
    for (const std::string& feature : features) {
        expected += (expected.empty() ? "" : ", ") + feature;
    }
    for (const std::string& word : flags.without) {
        if (std::ranges::find(features, word) == features.end()) {
            throw InputError("--without", "found \"" + word + "\"; expected any of " + expected);
        }
    }
    if (is_without(flags, "buffer") && (flags.spares.value_or(0) > 0 || flags.auto_spares)) {
        throw InputError("--without", "found buffer with --spares; expected one of them");
    }
    if (is_without(flags, "buffer") && flags.walltime_s <= 0 && !flags.queue_wait_s) {
        throw InputError(
            "--without",
            "found buffer without --walltime and --queue-wait; expected either: without spare nodes a failure "
            "sends the job to the queue");
    }
}

std::int64_t steps_between(double steps, const campaign::Setting& setting) {
    return static_cast<std::int64_t>(std::clamp(std::round(steps), 1.0, static_cast<double>(setting.steps)));
}

std::optional<campaign::BestInterval> settle_interval(CampaignCase& of, std::uint64_t seed) {
    campaign::Setting& s = of.setting;
    const bool has_trace = std::ranges::any_of(
        s.failures, [](const campaign::FailureSource& source) { return source.spacing == campaign::Spacing::kTrace; });
    if (of.is_auto && has_trace) {
        throw InputError("--checkpoint-every",
                         "found auto with a trace of failures, which has no mean time between them; expected a time or "
                         "a number of steps");
    }
    const std::optional<campaign::BestInterval> best = campaign::best_interval(s, seed);
    if (of.is_auto) {
        s.checkpoints.every_steps = best ? std::min(best->steps, s.steps) : s.steps;
    }
    return best;
}

void settle_spares(CampaignCase& of, const campaign::Samples& samples) {
    if (!of.is_auto_spares) {
        return;
    }
    campaign::Setting trial = of.setting;
    if (of.is_auto) {
        trial.checkpoints.every_steps = campaign::closed_form_steps(trial);
    }
    const std::int64_t needed = campaign::play_campaign(trial, samples).spares_needed_p99;
    const std::int64_t most = of.most_nodes > 0 ? of.most_nodes - trial.nodes.count : needed;
    of.setting.nodes.spares = static_cast<int>(std::min(needed, most));
    if (needed > most) {
        of.notes.push_back("--spares auto would hold " + thousands(static_cast<double>(needed)) +
                           " nodes, and the machine has " + thousands(static_cast<double>(most)) +
                           " beside those of the job");
    }
}

std::optional<campaign::BestInterval> settle(CampaignCase& of, const campaign::Samples& samples) {
    settle_spares(of, samples);
    return settle_interval(of, samples.seed);
}

void apply_campaign_flags(const CampaignFlags& flags, CampaignCase& to) {
    campaign::Setting& s = to.setting;
    for (campaign::FailureSource& source : s.failures) {
        source.hang_share = flags.silent_share.value_or(source.hang_share);
        source.soft_share = flags.soft_share.value_or(source.soft_share);
        if (source.hang_share + source.soft_share + source.corruption_share > 1) {
            throw InputError(flags.soft_share ? "--soft" : "--silent",
                             "found shares of " + source.cause + " that are hangs (" + significant(source.hang_share) +
                                 "), NaN (" + significant(source.soft_share) + ") and wrong numbers (" +
                                 significant(source.corruption_share) + "); expected at most 1 together");
        }
    }
    s.recovery.watchdog_s = flags.watchdog_s.value_or(s.recovery.watchdog_s);
    s.nodes.spares = flags.spares ? flags.spares : s.nodes.spares;
    if (flags.auto_spares) {
        s.nodes.spares = 0;
        to.is_auto_spares = true;
    }
    s.nodes.replenish_s = flags.replenish_s;
    s.nodes.replenish_sigma = flags.replenish_sigma;
    s.recovery.failed_start_share = flags.failed_start_share.value_or(s.recovery.failed_start_share);
    s.nodes.lemon_share = flags.lemon_share;
    s.nodes.lemon_factor = flags.lemon_factor;
    s.blocks.walltime_s = flags.walltime_s;
    s.blocks.queue_wait_s = flags.queue_wait_s.value_or(0);
    s.blocks.queue_wait_sigma = flags.queue_wait_sigma;
    s.blocks.maintenance_every_s = s.blocks.first_maintenance_s = flags.maintenance_every_s;
    s.blocks.maintenance_s = flags.maintenance_s;
    s.slow = {flags.slow_every_s, flags.slow_factor, flags.slow_s};
    s.starts_cold = s.starts_cold || flags.walltime_s > 0;
    if (flags.checkpoint_every && (flags.checkpoint_every->steps > 0 || flags.checkpoint_every->seconds > 0)) {
        const double wanted_s = flags.checkpoint_every->seconds;
        const double steps = wanted_s > 0 ? wanted_s / s.step_s : static_cast<double>(flags.checkpoint_every->steps);
        s.checkpoints.every_steps = steps_between(steps, s);
        to.is_auto = false;
    }
    check_spares(to);
    check_that_it_can_end(flags, s);
}

}  // namespace auspex::cli
