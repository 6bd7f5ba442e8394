/// @file Chances that stretches of time pass without a failure, and what follows from them.
#include "campaign/finish/recovery_law.hpp"

#include <algorithm>
#include <cmath>

#include "campaign/drawn_length.hpp"

namespace auspex::campaign {
namespace {

bool is_batch(const Setting& s) { return s.blocks.walltime_s > 0 || s.blocks.queue_wait_s > 0; }

/// True where its failures send the job to the queue.
bool requeues(const Setting& s, const FailureSource& source) {
    if (!is_batch(s)) {
        return false;
    }
    return source.nodes > 0 ? s.nodes.spares && *s.nodes.spares < source.nodes : s.recovery.software_requeues;
}

double rate_of(const FailureSource& source, double pace) {
    const bool has_rate = source.spacing != Spacing::kTrace && source.mean_s > 0;
    return has_rate ? (source.nodes > 0 ? pace : 1) / source.mean_s : 0;
}

/// One attempt to recover: chance that nothing interrupts it, and the time without failures in it.
struct Attempt {
    double chance = 0;
    MeanTime quiet;
};

class Chances {
 public:
    Chances(const Setting& setting, double step_s, double pace, double rate)
        : set_(setting), step_s_(step_s), pace_(pace), rate_(rate) {}

    /// That nothing strikes in so long.
    [[nodiscard]] double of(double seconds) const { return std::exp(-rate_ * seconds); }
    /// Of processes and communicators, as often as starts fail.
    [[nodiscard]] double of_starts() const {
        const Recovery& r = set_.recovery;
        const double once = of(r.restart_s + r.initialise_s);
        return (1 - r.failed_start_share) * once / (1 - r.failed_start_share * once);
    }
    /// Detection, swap or queue, then the environment where nodes lack it (after the queue always), then `rest`.
    [[nodiscard]] Attempt attempt(bool was_up, bool lacks_environment, double rest) const {
        Attempt mean;
        for (const FailureSource& source : set_.failures) {
            const double share = rate_of(source, pace_) * (1 - source.corruption_share) / rate_;
            const double detected = detection(source, was_up);
            const bool queues = requeues(set_, source);
            const double swap = source.nodes > 0 && !queues ? of(set_.recovery.swap_s) : 1;
            const double environment = queues || lacks_environment ? of(set_.recovery.environment_s) : 1;
            mean.chance += share * detected * swap * environment * rest;
            mean.quiet.idle_s += share * detected * (source.outage_s + wait_for_node_s(source));
            mean.quiet.queued_s +=
                queues ? share * detected * mean_length_s(set_.blocks.queue_wait_s, set_.blocks.queue_wait_sigma) : 0;
        }
        return mean;
    }
    /// A stretch with this chance to pass at once, and `again` as attempts behind each failure in it.
    [[nodiscard]] MeanTime stretch(double chance, const Attempt& again) const {
        const double failures = (1 - chance) / again.chance;
        MeanTime time = again.quiet * failures;
        time.exposed_s += failures / rate_;
        return time;
    }

 private:
    [[nodiscard]] double detection(const FailureSource& source, bool was_up) const {
        const double left = 1 - source.hang_share - source.soft_share - source.corruption_share;
        const double at_once = of(source.detection_s);
        const double in_step = rate_ * step_s_ > 0 ? -std::expm1(-rate_ * step_s_) / (rate_ * step_s_) : 1;
        const double sum = source.hang_share * of(set_.recovery.watchdog_s) +
                           source.soft_share * (was_up ? in_step : at_once) + left * at_once;
        return source.corruption_share < 1 ? sum / (1 - source.corruption_share) : 1;
    }
    /// Without spare nodes and batch system the job waits until the failed one is back.
    [[nodiscard]] double wait_for_node_s(const FailureSource& source) const {
        const bool waits = source.nodes > 0 && !is_batch(set_) && set_.nodes.spares && *set_.nodes.spares == 0;
        return waits ? mean_length_s(set_.nodes.replenish_s, set_.nodes.replenish_sigma) : 0;
    }

    const Setting& set_;
    double step_s_, pace_, rate_;
};

/// Where nothing fails but starts.
RecoveryLaw quiet_law(const Setting& s) {
    const Recovery& r = s.recovery;
    RecoveryLaw law;
    law.start.exposed_s = r.environment_s + (r.restart_s + r.initialise_s) / (1 - r.failed_start_share) + r.load_s;
    if (s.starts_cold) {
        law.first_start.exposed_s = law.start.exposed_s + s.prepare_s;
    }
    return law;
}

}  // namespace

MeanTime& MeanTime::operator+=(const MeanTime& other) {
    exposed_s += other.exposed_s;
    idle_s += other.idle_s;
    queued_s += other.queued_s;
    return *this;
}

MeanTime MeanTime::operator*(double factor) const { return {exposed_s * factor, idle_s * factor, queued_s * factor}; }

RecoveryLaw recovery_law(const Setting& setting, double step_s, double pace) {
    double rate = 0, requeue_rate = 0, corruption_rate = 0;
    for (const FailureSource& source : setting.failures) {
        const double all = rate_of(source, pace), seen = all * (1 - source.corruption_share);
        rate += seen;
        requeue_rate += requeues(setting, source) ? seen : 0;
        corruption_rate += all * source.corruption_share;
    }
    RecoveryLaw law;
    if (rate <= 0) {
        law = quiet_law(setting);
        law.recovery = law.start;
        law.corruption_rate = corruption_rate;
        return law;
    }
    const Chances chances(setting, step_s, pace, rate);
    const double starts = chances.of_starts(), load = chances.of(setting.recovery.load_s);
    const double environment = chances.of(setting.recovery.environment_s), prepare = chances.of(setting.prepare_s);
    const Attempt again = chances.attempt(false, false, starts * load);
    const Attempt from_steps = chances.attempt(true, false, starts * load);
    law.rate = rate;
    law.requeue_rate = requeue_rate;
    law.corruption_rate = corruption_rate;
    law.recovery = chances.stretch(from_steps.chance, again);
    law.recovery += from_steps.quiet;
    const MeanTime copies = chances.stretch(environment, chances.attempt(false, true, 1));
    law.start = copies;
    law.start += chances.stretch(starts * load, again);
    if (setting.starts_cold) {
        law.first_start = copies;
        law.first_start += chances.stretch(starts * prepare, chances.attempt(false, false, starts * prepare));
        law.first_start += chances.stretch(load, again);
    }
    return law;
}

}  // namespace auspex::campaign
