/// @file Runs as children of this program, and what their journals say.
#include "workflows/endure/calibration.hpp"

#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "campaign/failure_clocks.hpp"
#include "launch/train/child_run.hpp"

namespace auspex::workflows {
namespace {

/// Steps between checkpoints while pieces are timed.
constexpr int kEvery = 4;
/// Its stream, apart from those of measured runs.
constexpr std::uint64_t kCalibrationStream = 1'000'000;

}  // namespace

WatchedRun watch_run(EndureSession& session, int steps, int checkpoint_every, const std::function<Strike()>& draw,
                     int most) {
    const launch::TrainRequest request = session.run_of(steps, checkpoint_every);
    WatchedRun run;
    Killer killer(request.checkpoint, steps, draw, most);
    const double begun_s = launch::monotonic_s();
    run.result = run_training(request, session.scratch(), [&killer] { killer.poll(); });
    const double over_s = launch::monotonic_s();
    killer.finish();
    run.result.error = session.without_scratch(run.result.error);
    run.kills = killer.kills();
    run.next_s = killer.next_s();
    run.course = course_of(killer.events(), run.kills, begun_s, over_s);
    std::error_code ignored;
    std::filesystem::remove_all(request.checkpoint, ignored);
    return run;
}

WatchedRun watch_run_alone(EndureSession& session, int steps, int checkpoint_every) {
    WatchedRun run = watch_run(
        session, steps, checkpoint_every, [] { return Strike(); }, 0);
    if (!run.result.error.empty() || static_cast<int>(run.result.steps.size()) != steps) {
        throw std::runtime_error("a run that nothing happened to failed: " + run.result.error);
    }
    return run;
}

EndureCalibration::EndureCalibration(EndureSession& session, int ranks, int steps, std::uint64_t seed)
    : session_(session), ranks_(ranks), steps_(steps), rng_(campaign::stream_of(seed, 0, kCalibrationStream)) {}

PieceSamples EndureCalibration::run() {
    const auto draw = [this] {
        Strike strike;
        strike.rank = static_cast<int>(rng_.below(static_cast<std::uint64_t>(ranks_)));
        strike.after_steps = steps_ + static_cast<int>(rng_.below(2 * kEvery));
        return strike;
    };
    const WatchedRun run = watch_run(session_, steps_ + 6 * kEvery, kEvery, draw, 1);
    if (!run.result.error.empty()) {
        throw std::runtime_error("a run with one kill failed: " + run.result.error);
    }
    if (run.course.recoveries.empty() || std::isnan(run.course.recoveries.front().stepped_s)) {
        throw std::runtime_error("a run that was to be killed once was over before");
    }
    PieceSamples samples;
    add(samples, run.course);
    add(all_, samples);
    ++runs_;
    return samples;
}

}  // namespace auspex::workflows
