/// @file Which assumptions of the closed forms a setting breaks.
#include "campaign/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "campaign/player.hpp"

namespace auspex::campaign {
namespace {

constexpr double kErrors = 4;

double recovery_s(const Setting& setting, const FailureSource& source) {
    const Recovery& r = setting.recovery;
    const double found_s = source.hang_share * r.watchdog_s + source.soft_share * setting.step_s / 2 +
                           (1 - source.hang_share - source.soft_share - source.corruption_share) * source.detection_s;
    const double starts = 1 / (1 - r.failed_start_share);  // of which all but the last fail, in the mean
    return found_s + source.outage_s + (source.nodes > 0 ? r.swap_s : 0) + starts * (r.restart_s + r.initialise_s) +
           r.load_s;
}

/// Mean over failures.
double mean_recovery_s(const Setting& setting) {
    double sum = 0;
    for (const FailureSource& source : setting.failures) {
        sum += source.mean_s > 0 ? recovery_s(setting, source) / source.mean_s : 0;
    }
    return sum * mtbf_s(setting);
}

template <typename Predicate>
bool any_source(const Setting& setting, Predicate predicate) {
    return std::ranges::any_of(setting.failures, predicate);
}

std::vector<std::string> broken_by_failures(const Setting& setting) {
    std::vector<std::string> broken;
    if (any_source(setting, [](const FailureSource& s) { return s.spacing != Spacing::kExponential; })) {
        broken.emplace_back("times between failures are not exponential");
    }
    if (any_source(setting, [](const FailureSource& s) { return s.corruption_share > 0; })) {
        broken.emplace_back("wrong numbers are found late, and throw away more than one interval");
    }
    const double first_s = setting.failures.empty() ? 0 : recovery_s(setting, setting.failures.front());
    if (any_source(setting, [&](const FailureSource& s) {
            return s.hang_share > 0 || s.soft_share > 0 || std::abs(recovery_s(setting, s) - first_s) > 1e-9 * first_s;
        })) {
        broken.emplace_back("recoveries differ in length: hangs, detection, swaps");
    }
    if (setting.recovery.failed_start_share > 0) {
        broken.emplace_back("some starts fail, and begin anew: recoveries differ in length");
    }
    if (setting.nodes.lemon_share > 0 && setting.nodes.lemon_factor != 1) {
        broken.emplace_back("some nodes fail more often, until they are out");
    }
    return broken;
}

std::vector<std::string> broken_by_the_rest(const Setting& setting) {
    const Checkpoints& c = setting.checkpoints;
    std::vector<std::string> broken;
    const auto note = [&](bool is_broken, const char* what) {
        if (is_broken) {
            broken.emplace_back(what);
        }
    };
    note(c.write_s > 0, "checkpoints are written beside the steps and count only when they are written");
    note(c.copies == 1, "a failure while a checkpoint is written loses the one before, too");
    note(c.persistent_every > 0 && c.persistent_stall_s > 0, "some checkpoints stall for longer");
    note(setting.blocks.walltime_s > 0, "blocks of walltime end, with queue and start between them");
    note(setting.blocks.maintenance_s > 0 && setting.blocks.maintenance_every_s > 0, "maintenance of the machine");
    note(setting.nodes.spares.has_value(), "spare nodes can run out: waits for nodes, or the queue");
    note(setting.slow.mean_s > 0, "slow nodes hold steps up");
    note(setting.step_sigma > 0, "the step's time differs from sample to sample");
    note(!setting.recovery.is_interruptible, "recoveries are not interrupted");
    note(!setting.recovery.loses_work, "no steps are lost");
    note(setting.starts_cold, setting.prepare_s > 0 ? "the first start takes time, too, and an index of data is built"
                                                    : "the first start takes time, too");
    return broken;
}

std::optional<std::int64_t> spare_quantile(const Setting& setting) {
    const double window_s = spare_window_s(setting);
    double node_rate = 0;
    for (const FailureSource& source : setting.failures) {
        if (source.spacing == Spacing::kTrace || source.nodes > 1) {
            return std::nullopt;  // nodes do not fail by themselves
        }
        node_rate += source.nodes > 0 ? 1 / source.mean_s : 0;
    }
    if (window_s <= 0 || node_rate <= 0) {
        return std::nullopt;
    }
    return binomial_quantile(setting.nodes.count, -std::expm1(-node_rate * window_s / setting.nodes.count), 0.99);
}

}  // namespace

PoissonRun poisson_run_of(const Setting& setting) {
    return {mtbf_s(setting), setting.checkpoints.stall_s,
            std::isfinite(mtbf_s(setting)) ? mean_recovery_s(setting) : 0};
}

std::optional<Agreement> compare_with_closed_forms(const Setting& setting, const Result& result) {
    Agreement a;
    a.run = poisson_run_of(setting);
    if (!std::isfinite(a.run.mtbf_s)) {
        return std::nullopt;
    }
    const Checkpoints& c = setting.checkpoints;
    a.young_s = young_interval_s(a.run);
    a.daly_s = daly_interval_s(a.run);
    a.exact_s = exact_interval_s(a.run);
    const std::int64_t every = std::min(c.every_steps, setting.steps);
    a.exact_efficiency = exact_efficiency(a.run, static_cast<double>(every) * setting.step_s);
    a.expected_elapsed_s = run_time_s(a.run, setting.steps, every, setting.step_s);
    a.played_elapsed_s = result.elapsed_s.mean;
    a.error_s = result.elapsed_error_s;
    a.agrees = std::abs(a.played_elapsed_s - a.expected_elapsed_s) <= kErrors * a.error_s;
    if (!a.agrees) {
        a.broken = broken_by_failures(setting);
        if (result.given_up > 0) {
            a.broken.insert(a.broken.begin(), std::to_string(result.given_up) + " of " +
                                                  std::to_string(result.samples) +
                                                  " campaigns were given up, and have no length");
        }
        for (std::string& what : broken_by_the_rest(setting)) {
            a.broken.push_back(std::move(what));
        }
    }
    a.spare_quantile = spare_quantile(setting);
    return a;
}

}  // namespace auspex::campaign
