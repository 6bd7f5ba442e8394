#pragma once
/// @file One `auspex train` as a user would start it, as a child of this program, and what its JSON says.
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "exec/run/trainer.hpp"
#include "launch/train/request.hpp"

namespace auspex::launch {

struct TrainedRun {
    /// Empty: it ended well. Else its last words, and behind a colon the last five lines of what mpirun said.
    std::string error;
    std::vector<double> losses, gradient_norms, step_times_s;  ///< by step
    std::vector<double> probes_s;                              ///< by step; empty without --probe-cores
    std::vector<exec::RankReport> ranks;                       ///< peaks by label, and peak_bytes
    std::vector<exec::OperationCount> counts;                  ///< by OpKind, of the last step, over all ranks
    std::vector<std::string> notes;
    int first_step = 0;  ///< of losses
    int restarts = 0;
};

/// This program was asked to end: one of kEndSignals (launch/child_process.hpp) came.
class Interrupted : public std::runtime_error {
 public:
    explicit Interrupted(int signal) : std::runtime_error("ended by signal " + std::to_string(signal)) {}
};
/// Throws Interrupted where a signal was noted, and forgets it.
void throw_if_interrupted();

/// Runs `auspex train --json` to its end; what it prints goes to files in `scratch`. `meanwhile`, if given,
/// is called again and again while it runs. Throws Interrupted.
[[nodiscard]] TrainedRun run_training(const TrainRequest& request, const std::string& scratch,
                                      const std::function<void()>& meanwhile = {});

/// The same inputs as the run's, for predictions. Throws InputError for what does not fit.
[[nodiscard]] exec::RunInputs inputs_of_training(const TrainRequest& request);

}  // namespace auspex::launch
