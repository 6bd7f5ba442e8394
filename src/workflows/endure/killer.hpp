#pragma once
/// @file Kills ranks of a supervised run, one after another, and notes when.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "launch/train/run_journal.hpp"

namespace auspex::workflows {

/// When the next kill is due: both have to hold.
struct Strike {
    int rank = 0;
    double after_s = 0;   ///< of exposure (KillClock) since the last kill, or since the first step
    int after_steps = 0;  ///< that the launch has begun
};

/// A Poisson process: times between strikes -mean ln(1 - u), ranks evenly drawn.
class KillDraws {
 public:
    KillDraws(double mean_s, int ranks, Rng rng) : mean_s_(mean_s), ranks_(ranks), rng_(rng) {}
    Strike operator()();

 private:
    double mean_s_;
    int ranks_;
    Rng rng_;
};

/// The time in which a run can be killed: from its first step on, and after each kill from when the next launch's
/// processes are there. It stands still between, for nothing is left to kill; with exponential times that is the same
/// as a clock that goes on and strikes nobody.
class KillClock {
 public:
    void take(const launch::RunEvent& event);
    /// Exposed until now, in all; the journal's clock.
    [[nodiscard]] double exposed_s(double now_s) const { return before_s_ + (is_running_ ? now_s - since_s_ : 0); }
    [[nodiscard]] bool is_running() const { return is_running_; }
    /// Steps that the launch has begun.
    [[nodiscard]] int steps() const { return steps_; }
    void stop(double now_s);

 private:
    bool has_begun_ = false, is_running_ = false;
    double before_s_ = 0, since_s_ = 0;
    int steps_ = 0;
};

struct Kill {
    double at_s = 0;       ///< the journal's clock
    double exposed_s = 0;  ///< KillClock, since the run's first step
    int rank = 0;
};

class Killer {
 public:
    /// Of the run that saves to `checkpoints` and ends after `steps` steps. No kill comes behind the last `most`.
    Killer(std::string checkpoints, int steps, std::function<Strike()> draw, int most);

    /// To be called every few milliseconds while the run goes on.
    void poll();
    /// After the run: what is left in its journal.
    void finish() { follow(); }

    [[nodiscard]] const std::vector<launch::RunEvent>& events() const { return events_; }
    [[nodiscard]] const std::vector<Kill>& kills() const { return kills_; }
    /// Exposure at which the next one would have come.
    [[nodiscard]] double next_s() const { return due_s_; }

 private:
    void follow();

    std::string checkpoints_;
    int steps_, most_;
    std::function<Strike()> draw_;
    Strike next_;
    double due_s_ = 0;
    bool is_over_ = false;
    launch::JournalReader journal_;
    KillClock clock_;
    std::vector<launch::RunEvent> events_;
    std::vector<Kill> kills_;
};

}  // namespace auspex::workflows
