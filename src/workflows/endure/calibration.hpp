#pragma once
/// @file Runs that are watched, and those that the pieces come from.
#include <cstdint>
#include <functional>
#include <vector>

#include "launch/train/train_result.hpp"
#include "workflows/endure/killer.hpp"
#include "workflows/endure/pieces.hpp"
#include "workflows/endure/session.hpp"

namespace auspex::workflows {

struct WatchedRun {
    launch::TrainResult result;
    Course course;
    std::vector<Kill> kills;
    double next_s = 0;  ///< exposure at which the next kill would have come
};

/// Strikes as `draw` says, `most` times at most. Throws Interrupted (launch/train/child_run.hpp).
[[nodiscard]] WatchedRun watch_run(EndureSession& session, int steps, int checkpoint_every,
                                   const std::function<Strike()>& draw, int most);

/// One that nothing happens to. Throws std::runtime_error where it fails or loses steps, Interrupted.
[[nodiscard]] WatchedRun watch_run_alone(EndureSession& session, int steps, int checkpoint_every);

/// Runs of about `steps` steps with a checkpoint every four and one kill near their end, so that there is every piece
/// once at least, and nothing of them meets another.
class EndureCalibration {
 public:
    EndureCalibration(EndureSession& session, int ranks, int steps, std::uint64_t seed);

    /// One more run. Throws std::runtime_error where it fails, Interrupted.
    [[nodiscard]] PieceSamples run();
    /// Of all runs so far.
    [[nodiscard]] const PieceSamples& all() const { return all_; }
    [[nodiscard]] int runs() const { return runs_; }

 private:
    EndureSession& session_;
    int ranks_, steps_, runs_ = 0;
    Rng rng_;
    PieceSamples all_;
};

}  // namespace auspex::workflows
