#pragma once
/// @file How long recoveries take that failures may interrupt: expectations, without playing.
#include "campaign/setting.hpp"

namespace auspex::campaign {

/// What something takes in the mean. All in seconds.
struct MeanTime {
    double exposed_s = 0;  ///< nodes are held, and failures may strike
    double idle_s = 0;     ///< nodes are held, and none may: outages, waits for nodes
    double queued_s = 0;   ///< no nodes are held

    MeanTime& operator+=(const MeanTime& other);
    [[nodiscard]] MeanTime operator*(double factor) const;
    [[nodiscard]] double held_s() const { return exposed_s + idle_s; }
    [[nodiscard]] double total_s() const { return exposed_s + idle_s + queued_s; }
};

/// Interruptions come at random, r a second together. A stretch of random length X that begins anew when interrupted,
/// in lengths X' from then on, takes in the mean (renewals; with phi(X) = E[e^(-r X)], the chance that nothing strikes)
///   (1 - phi(X)) / (r phi(X'))
/// Detection, hangs, swaps and failed starts are mixed in phi; hence lengths may differ from failure to failure.
/// Ignores: that a failure in a recovery which swaps nodes makes it swap again.
struct RecoveryLaw {
    double rate = 0;             ///< r, of what stops the job at once
    double requeue_rate = 0;     ///< of it, what sends the job to the queue
    double corruption_rate = 0;  ///< of wrong numbers that go on unseen
    MeanTime recovery;           ///< from a failure of running steps until they run again
    MeanTime first_start;        ///< of a cold start, with the index of data; nothing where the setting starts warm
    MeanTime start;              ///< of a later block that no failure caused
};

/// `step_s`: mean time of a step; a failure that shows as NaN is found at its end. `pace`: how much more often nodes
/// fail than ordinary ones.
[[nodiscard]] RecoveryLaw recovery_law(const Setting& setting, double step_s, double pace);

}  // namespace auspex::campaign
