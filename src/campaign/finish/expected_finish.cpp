/// @file Checkpoints, failures and blocks added up.
#include "campaign/finish/expected_finish.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "campaign/agreement.hpp"
#include "campaign/campaign.hpp"
#include "campaign/closed_forms.hpp"
#include "campaign/finish/block_walk.hpp"
#include "campaign/finish/recovery_law.hpp"
#include "campaign/quantities.hpp"

namespace auspex::campaign {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr double kLongest = 100;

double persistent_share(const Checkpoints& c) { return c.persistent_every > 0 ? 1.0 / c.persistent_every : 0; }

/// Mean stall, those of persistent checkpoints shared out.
double mean_stall_s(const Checkpoints& c) { return c.stall_s + persistent_share(c) * c.persistent_stall_s; }

/// Mean over samples, without slow nodes.
double own_step_s(const Setting& s) { return s.step_s * std::exp(s.step_sigma * s.step_sigma / 2); }

/// What slow nodes make of a step: of the exposed time mean + lasts, `lasts` goes to steps of `factor` the length.
double slowness(const SlowNodes& slow) {
    return slow.mean_s > 0 ? (slow.mean_s + slow.lasts_s) / (slow.mean_s + slow.lasts_s / slow.factor) : 1;
}

/// Exposed time without recoveries of all segments between checkpoints; as recovery_law.hpp says.
class Segments {
 public:
    Segments(const Setting& setting, double step_s, double rate) : set_(setting), step_s_(step_s), rate_(rate) {}

    [[nodiscard]] double total_s() const {
        const Checkpoints& c = set_.checkpoints;
        const std::int64_t every = std::min(c.every_steps, set_.steps), count = (set_.steps + every - 1) / every;
        const std::int64_t last = set_.steps - (count - 1) * every;
        const double work_s = static_cast<double>(every) * step_s_;
        if (count == 1) {
            return behind_start_s(static_cast<double>(last) * step_s_, mean_stall_s(c));
        }
        const double stalls = persistent_share(c);
        const double middle = (1 - stalls) * between_s(work_s, c.stall_s) +
                              (stalls > 0 ? stalls * between_s(work_s, c.stall_s + c.persistent_stall_s) : 0);
        return behind_start_s(work_s, c.stall_s) + static_cast<double>(count - 2) * middle +
               between_s(static_cast<double>(last) * step_s_, mean_stall_s(c));
    }

 private:
    /// From a start to the first checkpoint that counts.
    [[nodiscard]] double behind_start_s(double work_s, double stall_s) const {
        const double length_s = work_s + stall_s + set_.checkpoints.write_s;
        return rate_ > 0 ? std::expm1(rate_ * length_s) / rate_ : length_s;
    }
    /// From a checkpoint that counts to the next one.
    [[nodiscard]] double between_s(double work_s, double stall_s) const {
        const double write_s = set_.checkpoints.write_s, length_s = std::max(work_s, write_s) + stall_s;
        return rate_ > 0 ? -std::expm1(-rate_ * length_s) / rate_ * std::exp(rate_ * (work_s + stall_s + write_s))
                         : length_s;
    }

    const Setting& set_;
    double step_s_, rate_;
};

/// What wrong numbers cost that nobody sees until they are found, a mean (exponential) C behind their begin: of a run
/// of `clean` they begin r clean times, and all since then is lost where they are found before the end, at a distance D
/// of it with E[Y; Y < D] = C - (C + D) e^(-D/C), beside `age`, what was done since the checkpoint that has none. They
/// begin in steps alone, which are the share `up` of that time.
struct Corruption {
    double found = 0, lost_s = 0;
};
Corruption corruption_of(const Setting& s, const RecoveryLaw& law, double clean_s, double up, double interval_s) {
    const double rate = law.corruption_rate * up, mean_s = s.recovery.corruption_s;
    if (rate <= 0) {
        return {};
    }
    const double tail = std::exp(-clean_s / mean_s);
    const Checkpoints& c = s.checkpoints;
    // Later on two checkpoints more have taken the places of those that had none.
    const double kept = -std::expm1(-((c.copies - 0.5) * interval_s + c.write_s) / mean_s);
    const double older_s = c.persistent_every > 0 ? c.persistent_every * interval_s / 2 : clean_s / 2;
    const double age_s = std::min(kept * interval_s / 2 + (1 - kept) * older_s, clean_s / 2);
    const double begun = rate * (clean_s - mean_s * (1 - tail));
    Corruption of;
    of.found = begun / std::max(1 - rate * age_s, 1e-9);
    const double since_s = mean_s * clean_s - 2 * mean_s * mean_s * (1 - tail) + mean_s * clean_s * tail;
    of.lost_s = of.found * age_s + rate * since_s * of.found / std::max(begun, 1e-300);
    return of;
}

/// How much more often nodes fail than ordinary ones, in the mean over so much exposed time with the same allocation.
/// Of n nodes y are lemons, which fail f times as often; each that fails is replaced, by a lemon again in the share l:
///   dy/dt = k (y* - y),  k = (f (1 - l) + l) x rate of a node,  y* = l n / (f (1 - l) + l)
double mean_pace(const Setting& s, double exposed_s) {
    const double share = s.nodes.lemon_share, factor = s.nodes.lemon_factor;
    if (share <= 0 || factor == 1) {
        return 1;
    }
    double node_rate = 0;
    for (const FailureSource& source : s.failures) {
        node_rate += source.nodes > 0 && source.mean_s > 0 ? 1 / source.mean_s / s.nodes.count : 0;
    }
    const double leaving = factor * (1 - share) + share, x = leaving * node_rate * exposed_s;
    const double lemons = share / leaving + (share - share / leaving) * (x > 0 ? -std::expm1(-x) / x : 1);
    return 1 + lemons * (factor - 1);
}

/// All but blocks: of a run that has its nodes for as long as it wants.
struct OpenRun {
    MeanTime time;
    double interruptions = 0;
    double spread_s = 0;  ///< standard deviation of the exposed time, about
};
OpenRun open_run(const Setting& s, const RecoveryLaw& law, double step_s) {
    OpenRun run;
    const double segments_s = Segments(s, step_s, law.rate).total_s();
    MeanTime clean = law.recovery * (law.rate * segments_s);
    clean.exposed_s += segments_s;
    const double interval_s = static_cast<double>(s.checkpoints.every_steps) * step_s + mean_stall_s(s.checkpoints);
    const Corruption corruption = corruption_of(s, law, clean.held_s(), segments_s / clean.held_s(), interval_s);
    run.time = clean * (1 + corruption.lost_s / clean.held_s());
    run.time += law.recovery * corruption.found;
    run.time += law.first_start;
    run.interruptions = law.rate * run.time.exposed_s + corruption.found;
    const double each_s = law.recovery.exposed_s + interval_s / 2 + s.checkpoints.write_s;
    run.spread_s =
        std::hypot(std::sqrt(run.interruptions) * each_s, s.step_sigma * static_cast<double>(s.steps) * step_s);
    return run;
}

std::vector<std::string> left_out_of(const Setting& s) {
    std::vector<std::string> left_out;
    const auto note = [&](bool is_there, const char* what) {
        if (is_there) {
            left_out.emplace_back(what);
        }
    };
    const auto any = [&](auto holds) { return std::ranges::any_of(s.failures, holds); };
    note(any([](const FailureSource& one) { return one.spacing == Spacing::kTrace; }), "failures of a trace");
    note(any([](const FailureSource& one) { return one.spacing == Spacing::kWeibull && one.shape != 1; }),
         "failures that come in bunches: they are taken as at random");
    note(s.checkpoints.copies == 1, "one copy alone: a failure while it is written loses the one before, too");
    note(s.nodes.spares && *s.nodes.spares > 0, "spare nodes run out: they are taken to be enough");
    note(!s.recovery.is_interruptible, "recoveries are not interrupted");
    note(!s.recovery.loses_work, "no steps are lost");
    note(any([](const FailureSource& one) { return one.corruption_share > 0; }) && s.checkpoints.persistent_every == 0,
         "wrong numbers go back to the begin where all checkpoints have them: half of the run is taken");
    return left_out;
}

/// The same run in jobs of a batch system.
void lay_out(const Setting& s, const RecoveryLaw& law, const OpenRun& run, double step_s, ExpectedFinish& to) {
    const BlockWalk walk(s, law, run.time, step_s);
    // Nine runs of equal chance: the middle of each ninth of a normal distribution.
    constexpr std::array kAround{-1.593, -0.967, -0.589, -0.282, 0.0, 0.282, 0.589, 0.967, 1.593};
    // Where failures begin blocks anew, the first end by walltime may come anywhere.
    const double shifted = std::min(law.requeue_rate * run.time.exposed_s, 1.0);
    LaidOut mean;
    for (std::size_t i = 0; i < kAround.size(); ++i) {
        const double place = (static_cast<double>(i * 4 % kAround.size()) + 0.5) / kAround.size();
        const double exposed_s = std::max(run.time.exposed_s + kAround.at(i) * run.spread_s, run.time.exposed_s / 10);
        const LaidOut one = walk.lay_out(exposed_s, 1 - shifted * (1 - place));
        mean.elapsed_s += one.elapsed_s / kAround.size();
        mean.held_s += one.held_s / kAround.size();
        mean.planned += one.planned / kAround.size();
        mean.exposed_s += one.exposed_s / kAround.size();
    }
    to.elapsed_s = mean.elapsed_s;
    to.node_hours = mean.held_s / 3600 * (s.nodes.count + s.nodes.spares.value_or(0));
    to.interruptions = run.interruptions * mean.exposed_s / run.time.exposed_s;
    to.blocks = 1 + mean.planned + law.requeue_rate * mean.exposed_s;
}

}  // namespace

ExpectedFinish expected_finish(const Setting& setting) {
    AUSPEX_CHECK(setting.steps > 0 && setting.checkpoints.every_steps > 0, "a step, and an interval of checkpoints");
    const double step_s = own_step_s(setting) * slowness(setting.slow);
    const double work_s = static_cast<double>(setting.steps) * own_step_s(setting);
    ExpectedFinish to;
    to.left_out = left_out_of(setting);
    double pace = mean_pace(setting, 0);
    RecoveryLaw law = recovery_law(setting, step_s, pace);
    OpenRun run = open_run(setting, law, step_s);
    for (int round = 0; setting.nodes.lemon_share > 0 && round < 3; ++round) {
        const double block_s = setting.blocks.walltime_s > 0 ? setting.blocks.walltime_s : kEndless;
        pace = mean_pace(setting, std::min(run.time.exposed_s, block_s));
        law = recovery_law(setting, step_s, pace);
        run = open_run(setting, law, step_s);
    }
    to.mtbf_s = law.rate > 0 ? 1 / law.rate : kEndless;
    lay_out(setting, law, run, step_s, to);
    // A campaign is given up by then (play/play_sample.cpp).
    if (!(to.elapsed_s < kLongest * work_s + kYear_s)) {
        to.elapsed_s = to.node_hours = to.interruptions = to.blocks = kEndless;
        return to;
    }
    to.goodput = work_s / to.elapsed_s;
    return to;
}

std::int64_t closed_form_steps(const Setting& setting) {
    PoissonRun run = poisson_run_of(setting);
    if (!std::isfinite(run.mtbf_s)) {
        return setting.steps;
    }
    run.stall_s = mean_stall_s(setting.checkpoints);
    const double best_s = std::max(exact_interval_s(run), setting.checkpoints.write_s);
    return static_cast<std::int64_t>(
        std::clamp(std::round(best_s / setting.step_s), 1.0, static_cast<double>(setting.steps)));
}

}  // namespace auspex::campaign
